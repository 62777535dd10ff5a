import { posix } from 'node:path'
import type { SourceFile } from './source-file.ts'

/**
 * The position of a file in the layout. A file may import from its own module and from lower layers of its workspace.
 * Some modules order their files by `rank`: a file may not import a rank above `sees`, also inside its own module.
 */
export type Place = Readonly<{ layer: number; module: string; rank: number; sees: number }>

export type Architecture = Readonly<{
  /** Null for a path that has no place in the layout, which is a fault. */
  placeOf(path: string): Place | null
  /** Modules of the same layer that a module may import. */
  allowedEdges: Readonly<Record<string, readonly string[]>>
  /** External libraries with the folders and files that may import them. */
  importers: Readonly<Record<string, readonly string[]>>
  linesMax: number
  functionLinesMax: number
  /** Data files have no size limits. */
  isData(path: string): boolean
  vagueWords: readonly string[]
  /** Files that convert text or bigints to numbers, with the reason for each. */
  numbers: Readonly<Record<string, string>>
  environmentReaders: readonly string[]
}>

/** Returns one sentence per fault. */
export type Rule = (files: readonly SourceFile[], architecture: Architecture) => string[]

const targetOf = (path: string, specifier: string): string => posix.join(posix.dirname(path), specifier)
const isRelative = (specifier: string): boolean => specifier.startsWith('.')
const workspaceOf = (path: string): string => path.split('/')[0] ?? ''

function mayImport(from: Place, to: Place, allowedEdges: Architecture['allowedEdges']): boolean {
  if (to.module === from.module) return to.rank <= from.sees || to.rank === from.rank
  if (to.layer < from.layer) return to.rank <= from.sees
  return allowedEdges[from.module]?.includes(to.module) ?? false
}

export const importsFollowLayers: Rule = (files, { placeOf, allowedEdges }) => {
  const paths = new Set(files.map(({ path }) => path))
  return files.flatMap(({ path, imports }) => {
    const from = placeOf(path)
    if (from === null) return [`${path} has no place in the layout`]
    return imports
      .filter(({ specifier }) => isRelative(specifier))
      .flatMap(({ specifier, line }) => {
        const target = targetOf(path, specifier)
        if (target.endsWith('.json')) return []
        if (!paths.has(target)) return [`${path}:${line} → ${target}, which does not exist`]
        const to = placeOf(target)
        if (to === null) return []
        return workspaceOf(target) === workspaceOf(path) && mayImport(from, to, allowedEdges)
          ? []
          : [`${path}:${line} (${from.module}) → ${target} (${to.module}) breaks the layers`]
      })
  })
}

/** `@scure/base/x.js` → `@scure/base`, `viem/accounts` → `viem`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

export const librariesHaveNamedImporters: Rule = (files, { importers }) =>
  files.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier }) => !isRelative(specifier) && !specifier.startsWith('node:'))
      .flatMap(({ specifier, line }) => {
        const allowed = importers[packageOf(specifier)]
        if (allowed === undefined) return [`${path}:${line} → ${specifier}, which no file may import`]
        return allowed.some((folder) => path === folder || path.startsWith(`${folder}/`))
          ? []
          : [`${path}:${line} → ${specifier}, which only ${allowed.join(', ')} may import`]
      }),
  )

/** An entry without an import is outdated or mistyped. */
export const namedImportersImport: Rule = (files, { importers }) =>
  Object.entries(importers).flatMap(([library, folders]) =>
    folders
      .filter(
        (folder) =>
          !files.some(
            ({ path, imports }) =>
              (path === folder || path.startsWith(`${folder}/`)) &&
              imports.some(({ specifier }) => packageOf(specifier) === library),
          ),
      )
      .map((folder) => `${folder} may import ${library} and does not`),
  )

export const noCycles: Rule = (files) => {
  const edges = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ specifier }) => isRelative(specifier)).map(({ specifier }) => targetOf(path, specifier)),
    ]),
  )
  const state = new Map<string, 'open' | 'done'>()
  const faults: string[] = []
  const visit = (path: string, trail: readonly string[]) => {
    if (state.get(path) === 'done') return
    if (state.get(path) === 'open') {
      faults.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`)
      return
    }
    state.set(path, 'open')
    for (const target of edges.get(path) ?? []) visit(target, [...trail, path])
    state.set(path, 'done')
  }
  for (const path of edges.keys()) visit(path, [])
  return faults
}

export const filesAndFunctionsAreShort: Rule = (files, { linesMax, functionLinesMax, isData }) =>
  files
    .filter(({ path }) => !isData(path))
    .flatMap(({ path, lines, functions }) => [
      ...(lines > linesMax ? [`${path}: ${lines} lines, ${linesMax} at most`] : []),
      ...functions
        .filter((entry) => entry.lines > functionLinesMax)
        .map((entry) => `${path}:${entry.line} ${entry.name}: ${entry.lines} lines, ${functionLinesMax} at most`),
    ])

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)

export const namesAvoidVagueWords: Rule = (files, { vagueWords }) => {
  const vague = (name: string) => wordsOf(name).find((word) => vagueWords.includes(word))
  return files.flatMap(({ path, exports }) =>
    [path, ...exports].flatMap((name) => {
      const word = vague(name)
      return word === undefined ? [] : [`${path}: "${word}" in ${name === path ? 'its name' : name} says nothing`]
    }),
  )
}

export const filesAreKebabCase: Rule = (files) =>
  files
    .filter(({ path }) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.ts$/.test(posix.basename(path)))
    .map(({ path }) => `${path} is not kebab-case`)

export const exportsAreNamed: Rule = (files) =>
  files.filter(({ exports }) => exports.includes('default')).map(({ path }) => `${path} has a default export`)

export const numberConversionsAreListed: Rule = (files, { numbers }) => [
  ...files
    .filter(({ path }) => numbers[path] === undefined)
    .flatMap(({ path, numbers: spots }) =>
      spots.map(({ what, line }) => `${path}:${line} ${what} is not in the list of number conversions`),
    ),
  ...Object.keys(numbers)
    .filter((path) => !files.some((file) => file.path === path && file.numbers.length > 0))
    .map((path) => `${path} is in the list of number conversions and has none`),
]

export const onlyListedFilesReadTheEnvironment: Rule = (files, { environmentReaders }) =>
  files
    .filter(({ path }) => !environmentReaders.includes(path))
    .flatMap(({ path, environment }) => environment.map(({ what, line }) => `${path}:${line} reads ${what}`))
