# frozen_string_literal: true

# The client's process: `ruby client.rb <task as JSON>`; see ClientTask in system.ts.

require_relative "../sidekiq/client_tasks"
require_relative "job"

ClientTasks.perform(
  single: ->(index) { Job.enqueue(index) },
  bulk: ->(indexes) { Job.enqueue_bulk(indexes.map { |index| [index] }) },
  at: ->(index, due_ms) { Job.enqueue_in(due_ms / 1000 - Time.now.to_f, index) }
)
