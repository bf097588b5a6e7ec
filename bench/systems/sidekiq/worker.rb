# frozen_string_literal: true

# What Sidekiq's program loads: `sidekiq -r worker.rb`.

require_relative "bodies"
require_relative "job"
require_relative "marks"

# One line of log for each job otherwise.
Sidekiq.logger.level = Logger::WARN

class Job
  BODY = Bodies.chosen

  def perform(index)
    Marks.around(index, &BODY)
  end
end

Sidekiq.configure_server do |config|
  config.on(:startup) { $stdout.puts("node started") }
end
