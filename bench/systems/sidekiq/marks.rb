# frozen_string_literal: true

require "fiddle"
require "securerandom"

# The file in which a thread counts its jobs; its layout is at the head of marks/layout.ts.
class Marks
  HEAD_BYTES = 64
  SAMPLE_BYTES = 24
  READ_AND_WRITE = 3
  SHARED = 1

  def self.now_ms
    Process.clock_gettime(Process::CLOCK_REALTIME, :float_millisecond)
  end

  # The present thread's own: threads may be interrupted by each other anywhere.
  def self.own
    marks = Thread.current.thread_variable_get(:bench_marks)
    marks || new.tap { |fresh| Thread.current.thread_variable_set(:bench_marks, fresh) }
  end

  # Runs a job's body and marks the job; an error is counted and goes on.
  def self.around(index)
    marks = own
    start = marks.start
    begin
      yield index
    rescue StandardError
      marks.fail
      raise
    end
    marks.finish(index, start)
  end

  def initialize
    capacity = Integer(ENV.fetch("BENCH_CAPACITY"))
    @sample_every = Integer(ENV.fetch("BENCH_SAMPLE_EVERY"))
    @room = quotient_up(capacity, @sample_every) + 64
    @samples_at = HEAD_BYTES + quotient_up(capacity, 64) * 8
    @memory = mapped(@samples_at + @room * SAMPLE_BYTES)
    @executed = @errors = @samples = 0
    @first = @last = 0.0
  end

  # Before the body of a job; answers with the time.
  def start
    now = Marks.now_ms
    return now unless @first.zero?

    @first = now
    write_head
    now
  end

  # After the body of a job that ended without an error.
  def finish(index, start)
    @last = Marks.now_ms
    byte = HEAD_BYTES + (index >> 3)
    @memory[byte] = (@memory[byte] & 0xff) | (1 << (index & 7))
    keep(index, start, @last) if (index % @sample_every).zero? && @samples < @room
    @executed += 1
    write_head
  end

  # After the body of a job that raised.
  def fail
    @last = Marks.now_ms
    @errors += 1
    write_head
  end

  private

  def quotient_up(number, divisor)
    (number + divisor - 1) / divisor
  end

  def keep(index, start, finish)
    @memory[@samples_at + @samples * SAMPLE_BYTES, SAMPLE_BYTES] = [index, start, finish].pack("E3")
    @samples += 1
  end

  def write_head
    @memory[0, 40] = [@executed, @errors, @first, @last, @samples].pack("E5")
  end

  def mapped(size)
    path = File.join(ENV.fetch("BENCH_FOLDER"), SecureRandom.uuid)
    address = File.open(path, "w+b") do |file|
      file.truncate(size)
      MMAP.call(nil, size, READ_AND_WRITE, SHARED, file.fileno, 0).to_i
    end
    raise SystemCallError.new("mmap", Fiddle.last_error) if address == -1

    File.rename(path, "#{path}.marks") # whoever sees it sees its whole size
    Fiddle::Pointer.new(address, size)
  end

  # Ruby's standard library has no shared mapping, but it can call the C library's.
  MMAP = Fiddle::Function.new(
    Fiddle.dlopen(nil)["mmap"],
    [Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T, Fiddle::TYPE_INT, Fiddle::TYPE_INT, Fiddle::TYPE_INT, Fiddle::TYPE_LONG],
    Fiddle::TYPE_VOIDP
  )
end
