import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript-5.9";

const root = join(import.meta.dir, "..", "..", "..");

/** What the declarations of `src/store` promise, read from their text, so that no list of it is kept twice. */
export class Contract {
  private readonly interfaces = new Map<string, ts.InterfaceDeclaration>();
  private readonly types = new Map<string, ts.TypeNode>();

  /** @param files relative to the repository */
  constructor(...files: readonly string[]) {
    for (const file of files) {
      const text = readFileSync(join(root, file), "utf8");
      const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
      for (const statement of source.statements) {
        if (ts.isInterfaceDeclaration(statement)) this.interfaces.set(statement.name.text, statement);
        if (ts.isTypeAliasDeclaration(statement)) this.types.set(statement.name.text, statement.type);
      }
    }
  }

  /** Interfaces with methods that no other interface extends. */
  get wholes(): string[] {
    const extended = [...this.interfaces.keys()].flatMap((name) => this.parentsOf(name));
    const names = [...this.interfaces.keys()].filter((name) => this.methodsOf(name).length > 0);
    return names.filter((name) => !extended.includes(name)).toSorted();
  }

  /** The methods of an interface, those that it extends included. */
  methodsOf(name: string): string[] {
    const declaration = this.interfaces.get(name);
    if (declaration === undefined) throw new Error(`no interface ${name} is declared`);
    const inherited = this.parentsOf(name)
      .filter((parent) => this.interfaces.has(parent))
      .flatMap((parent) => this.methodsOf(parent));
    const own = declaration.members.filter(ts.isMethodSignature).map((member) => member.name.getText());
    return [...inherited, ...own].toSorted();
  }

  /** The texts that a field may have in a union of object types, such as `outcome`. */
  valuesOf(union: string, field: string): string[] {
    const type = this.types.get(union);
    if (type === undefined || !ts.isUnionTypeNode(type)) throw new Error(`no union ${union} is declared`);
    return type.types
      .filter(ts.isTypeLiteralNode)
      .flatMap(({ members }) => members)
      .filter(ts.isPropertySignature)
      .filter((member) => member.name.getText() === field)
      .map((member) => JSON.parse(member.type?.getText() ?? '""') as string)
      .toSorted();
  }

  private parentsOf(name: string): string[] {
    const clauses = this.interfaces.get(name)?.heritageClauses ?? [];
    return clauses.flatMap(({ types }) => types).map(({ expression }) => expression.getText());
  }
}
