import { parseSync, Visitor } from 'oxc-parser'

export type Import = Readonly<{ specifier: string; line: number }>
export type Spot = Readonly<{ what: string; line: number }>

/** Facts about one file that the rules need. Paths are relative to the root of the repository. */
export type SourceFile = Readonly<{
  path: string
  lines: number
  /** Static, dynamic and type-only imports, and re-exports. */
  imports: readonly Import[]
  exports: readonly string[]
  functions: readonly Readonly<{ name: string; line: number; lines: number }>[]
  /** Conversions to and from numbers: `Number(`, `parseFloat`, `toFixed`, `+text`. */
  numbers: readonly Spot[]
  /** Reads of the environment. */
  environment: readonly Spot[]
}>

type Node = Readonly<{ start: number; end: number }>
type NamedNode = Node & { id?: { name: string } | null }

export function parseSource(path: string, text: string): SourceFile {
  const { program, module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length
  const collected = {
    functions: [] as { name: string; line: number; lines: number }[],
    numbers: [] as Spot[],
    environment: [] as Spot[],
  }
  const measure = (name: string, node: Node) => {
    const line = lineOf(node.start)
    collected.functions.push({ name, line, lines: lineOf(node.end) - line + 1 })
  }
  const names = new Map<number, string>()
  new Visitor({
    VariableDeclarator: ({ id, init }) => {
      if (init && id.type === 'Identifier') names.set(init.start, id.name)
    },
    FunctionDeclaration: (node) => measure((node as NamedNode).id?.name ?? 'function', node),
    FunctionExpression: (node) => measure((node as NamedNode).id?.name ?? names.get(node.start) ?? 'function', node),
    ArrowFunctionExpression: (node) => measure(names.get(node.start) ?? 'arrow function', node),
    CallExpression: ({ callee, start }) => {
      const name =
        callee.type === 'Identifier'
          ? callee.name
          : callee.type === 'MemberExpression' && callee.property.type === 'Identifier'
            ? callee.property.name
            : ''
      const isNumber = callee.type === 'Identifier' && name === 'Number'
      if (isNumber || name === 'parseFloat' || name === 'toFixed')
        collected.numbers.push({ what: `${name}(`, line: lineOf(start) })
    },
    UnaryExpression: ({ operator, start }) => {
      if (operator === '+') collected.numbers.push({ what: 'unary +', line: lineOf(start) })
    },
    MemberExpression: ({ object, property, start }) => {
      if (object.type !== 'Identifier' || object.name !== 'process') return
      if (property.type === 'Identifier' ? property.name === 'env' : property.type === 'Literal')
        collected.environment.push({ what: 'process.env', line: lineOf(start) })
    },
  }).visit(program)
  for (const { moduleRequest, entries, start } of module.staticImports) {
    const isProcess = /^(node:)?process$/.test(moduleRequest.value)
    if (isProcess && entries.some(({ importName }) => importName.name === 'env'))
      collected.environment.push({ what: 'process.env', line: lineOf(start) })
  }
  return {
    path,
    lines: text.trimEnd().split('\n').length,
    imports: importsOf(text, module, lineOf),
    exports: exportsOf(module),
    ...collected,
  }
}

type Module = ReturnType<typeof parseSync>['module']

function importsOf(text: string, module: Module, lineOf: (offset: number) => number): Import[] {
  const reExports = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, start }) =>
      moduleRequest ? [{ specifier: moduleRequest.value, line: lineOf(start) }] : [],
    ),
  )
  const imports = module.staticImports.map(({ moduleRequest, start }) => ({
    specifier: moduleRequest.value,
    line: lineOf(start),
  }))
  // A computed specifier keeps its source text, so that the rule about importers reports it.
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) => ({
    specifier: text.slice(start, end).replace(/^(['"])(.*)\1$/, '$2'),
    line: lineOf(start),
  }))
  const types = [...text.matchAll(/\bimport\(\s*(['"])([^'"]+)\1\s*\)/g)].map(({ 2: specifier = '', index }) => ({
    specifier,
    line: lineOf(index),
  }))
  const all = [...imports, ...reExports, ...dynamic, ...types].map(
    (entry) => [`${entry.line} ${entry.specifier}`, entry] as const,
  )
  return [...new Map(all).values()]
}

const exportsOf = (module: Module): string[] =>
  module.staticExports.flatMap(({ entries }) =>
    entries.map(({ exportName }) => (exportName.kind === 'Default' ? 'default' : (exportName.name ?? '*'))),
  )
