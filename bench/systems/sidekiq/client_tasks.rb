# frozen_string_literal: true

require "json"
require_relative "marks"

# What a client is asked for, carried out by the publishing calls that a system gives.
class ClientTasks
  CHUNK = 1000

  # Reads the task from the command line and prints the answer.
  def self.perform(**calls)
    task = JSON.parse(ARGV.fetch(0))
    answer = new(**calls).public_send(task.fetch("kind"), task)
    puts JSON.generate(answer) if answer
  end

  def initialize(single:, bulk:, at:)
    @single = single
    @bulk = bulk
    @at = at
  end

  def fill(task)
    publish_in_bulk(task.fetch("jobs"))
    {}
  end

  # The first publication connects; it is the job with the last index.
  def publish(task)
    jobs = task.fetch("jobs") - 1
    @single.call(jobs)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    task.fetch("mode") == "bulk" ? publish_in_bulk(jobs) : jobs.times(&@single)
    { seconds: Process.clock_gettime(Process::CLOCK_MONOTONIC) - start }
  end

  def follow(_task)
    $stdout.sync = true
    puts "ready"
    while (line = $stdin.gets)
      at = Marks.now_ms
      @single.call(Integer(line))
      puts at
    end
  end

  # Due at random times of a span that begins a little ahead.
  def plan(task)
    start = Marks.now_ms + task.fetch("aheadMs")
    due = Array.new(task.fetch("jobs")) { start + rand * task.fetch("spreadMs") }
    due.each_with_index { |at, index| @at.call(index, at) }
    { dueMs: due }
  end

  private

  def publish_in_bulk(jobs)
    (0...jobs).each_slice(CHUNK) { |indexes| @bulk.call(indexes) }
  end
end
