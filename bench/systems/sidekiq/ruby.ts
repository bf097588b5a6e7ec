/** What of Ruby's a program needs, and what there is of it: versions by the name of what is loaded. */
export type RubyVersions = Readonly<Record<string, string>>;

const known = new Map<string, RubyVersions | undefined>();

/** Its version and those of its libraries, when the `ruby` on PATH can load the first of them; else undefined. */
export function rubyWith(
  libraries: readonly [needed: string, ...others: string[]],
): RubyVersions | undefined {
  const key = libraries.join(" ");
  if (!known.has(key)) known.set(key, ask(libraries));
  return known.get(key);
}

function ask(libraries: readonly string[]): RubyVersions | undefined {
  if (Bun.which("ruby") === null) return undefined;
  const { exitCode, stdout } = Bun.spawnSync(["ruby", "-rjson", "-e", question, ...libraries], {
    stderr: "ignore",
  });
  return exitCode === 0 ? (JSON.parse(stdout.toString()) as RubyVersions) : undefined;
}

const question = `
found = { "ruby" => RUBY_VERSION }
ARGV.each_with_index do |library, i|
  require library
  found[library] = Gem.loaded_specs[library]&.version&.to_s || "of the system"
rescue LoadError
  exit 1 if i.zero?
end
puts JSON.generate(found)
`;
