# frozen_string_literal: true

# The client's process: `ruby client.rb <task as JSON>`; see ClientTask in system.ts.

require_relative "client_tasks"
require_relative "job"

Sidekiq.redis(&:ping)
ClientTasks.perform(
  single: ->(index) { Job.perform_async(index) },
  bulk: ->(indexes) { Job.perform_bulk(indexes.map { |index| [index] }) },
  at: ->(index, due_ms) { Job.perform_at(due_ms / 1000, index) }
)
