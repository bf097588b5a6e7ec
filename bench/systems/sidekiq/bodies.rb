# frozen_string_literal: true

require "json"
require "net/http"

# What a job does, by the names in workloads/workload.ts.
module Bodies
  CPU_ITERATIONS = 100_000
  # About 7 ms in Ruby (2.3 ms for 100,000).
  CPU_LONG_ITERATIONS = 300_000

  module_function

  def chosen
    all.fetch(ENV.fetch("BENCH_WORKLOAD", "noop"))
  end

  def all
    {
      "noop" => ->(_index) {},
      "cpu" => ->(_index) { spin(CPU_ITERATIONS) },
      "cpu-long" => ->(_index) { spin(CPU_LONG_ITERATIONS) },
      "io" => ->(_index) { sleep(0.005) },
      "mixed" => ->(index) { index.odd? ? sleep(0.005) : spin(CPU_ITERATIONS) },
      "fib" => ->(_index) { fibonacci(25) },
      "http" => ->(_index) { get(URI(ENV.fetch("BENCH_HTTP_URL"))) },
      "postgres" => ->(_index) { sleep_in_postgres(ENV.fetch("BENCH_POSTGRES_URL")) },
      "file" => ->(index) { File.open(ENV.fetch("BENCH_FILE"), "a") { |file| file.write("#{index}\n") } },
      "order" => ->(index) { post_order(index, JSON.parse(ENV.fetch("BENCH_MERCHANTS"))) }
    }
  end

  def spin(iterations)
    value = i = 0
    while i < iterations
      value = (value * 31 + i) & 0x7fffffff
      i += 1
    end
    value
  end

  def fibonacci(number)
    number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2)
  end

  def get(url)
    request(url) { |connection| connection.get(url.request_uri) }
  end

  def post_order(index, merchants)
    url = URI(merchants[index % merchants.size])
    request(url) { |connection| connection.post(url.request_uri, JSON.generate(order: index)) }
  end

  def request(url)
    free = (HTTP[url.port] ||= [])
    connection = free.pop || Net::HTTP.start(url.host, url.port)
    answer = yield connection
    raise "expected the status 200 of #{url}, got #{answer.code}" unless answer.code == "200"

    free.push(connection)
  end

  def sleep_in_postgres(url)
    connection = POSTGRES.pop || connect(url)
    connection.exec("SELECT pg_sleep(0.1)").clear
    POSTGRES.push(connection)
  end

  def connect(url)
    require "pg"
    PG.connect(url)
  end

  # Connections that are kept between jobs: a job takes a free one, or opens one, and puts it back.
  HTTP = {}
  POSTGRES = []
end
