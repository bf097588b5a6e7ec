# frozen_string_literal: true

require "sidekiq"

# Otherwise this version of Sidekiq makes its Redis client write a line for each job.
Redis.silence_deprecations = true if Redis.respond_to?(:silence_deprecations=)

# As a client knows it; `worker.rb` adds what it does.
class Job
  include Sidekiq::Worker
end
