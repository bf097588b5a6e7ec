# frozen_string_literal: true

require "jiggler"

Jiggler.configure do |config|
  config[:redis_url] = ENV.fetch("BENCH_REDIS_URL")
end

# As a client knows it; `worker.rb` adds what it does.
class Job
  include Jiggler::Job
end
