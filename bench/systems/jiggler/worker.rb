# frozen_string_literal: true

# What Jiggler's program loads: `jiggler -r worker.rb`.

require_relative "../sidekiq/bodies"
require_relative "../sidekiq/marks"
require_relative "job"

Jiggler.configure do |config|
  config[:mode] = ENV.fetch("BENCH_DELIVERY").to_sym
end

class Job
  BODY = Bodies.chosen

  def perform(index)
    Marks.around(index, &BODY)
  end
end
