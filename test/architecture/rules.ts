import { posix } from 'node:path'
import type { SourceFile } from './source-file.ts'

/** A place in the house: files of one room may import each other, and whatever lies on a lower floor of the same workspace. */
export type Place = Readonly<{ floor: number; room: string }>

export type Law = Readonly<{
  /** Where a file lives. Null: nobody said, which is a fault. */
  placeOf(path: string): Place | null
  /** Outside libraries and the only folders or files that may import each. */
  homes: Readonly<Record<string, readonly string[]>>
  linesMax: number
  functionLinesMax: number
  /** Files of data: no ceilings. */
  isData(path: string): boolean
  bannedWords: readonly string[]
  /** Files that make numbers of text or of bigints, and why each may. */
  numbers: Readonly<Record<string, string>>
  environmentReaders: readonly string[]
}>

/** Every sentence is one fault. */
export type Rule = (files: readonly SourceFile[], law: Law) => string[]

const targetOf = (path: string, specifier: string): string => posix.join(posix.dirname(path), specifier)
const isRelative = (specifier: string): boolean => specifier.startsWith('.')
const workspaceOf = (path: string): string => path.split('/')[0] ?? ''

export const importsGoDown: Rule = (files, law) => {
  const known = new Set(files.map(({ path }) => path))
  return files.flatMap(({ path, imports }) => {
    const from = law.placeOf(path)
    if (from === null) return [`${path} is in no room of the house`]
    return imports
      .filter(({ specifier }) => isRelative(specifier))
      .flatMap(({ specifier, line }) => {
        const target = targetOf(path, specifier)
        if (target.endsWith('.json')) return []
        if (!known.has(target)) return [`${path}:${line} → ${target}, which is not there`]
        const to = law.placeOf(target)
        if (to === null) return []
        const isAllowed = workspaceOf(target) === workspaceOf(path) && (to.room === from.room || to.floor < from.floor)
        return isAllowed
          ? []
          : [`${path}:${line} (floor ${from.floor}, ${from.room}) → ${target} (floor ${to.floor}, ${to.room})`]
      })
  })
}

/** `@scure/base/x.js` → `@scure/base`, `viem/accounts` → `viem`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

export const librariesStayHome: Rule = (files, { homes }) =>
  files.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier }) => !isRelative(specifier) && !specifier.startsWith('node:'))
      .flatMap(({ specifier, line }) => {
        const home = homes[packageOf(specifier)]
        if (home === undefined) return [`${path}:${line} → ${specifier}, which has no home`]
        return home.some((folder) => path === folder || path.startsWith(`${folder}/`))
          ? []
          : [`${path}:${line} → ${specifier}, whose home is ${home.join(', ')}`]
      }),
  )

/** A home that nobody lives in is a library that is not used any more, or a mistyped name. */
export const homesAreLivedIn: Rule = (files, { homes }) =>
  Object.entries(homes).flatMap(([library, folders]) =>
    folders
      .filter(
        (folder) =>
          !files.some(
            ({ path, imports }) =>
              (path === folder || path.startsWith(`${folder}/`)) &&
              imports.some(({ specifier }) => packageOf(specifier) === library),
          ),
      )
      .map((folder) => `${folder} is a home of ${library} and does not import it`),
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

export const ceilingsHold: Rule = (files, { linesMax, functionLinesMax, isData }) =>
  files
    .filter(({ path }) => !isData(path))
    .flatMap(({ path, lines, functions }) => [
      ...(lines > linesMax ? [`${path}: ${lines} lines, ${linesMax} at most`] : []),
      ...functions
        .filter((one) => one.lines > functionLinesMax)
        .map((one) => `${path}:${one.line} ${one.name}: ${one.lines} lines, ${functionLinesMax} at most`),
    ])

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)

export const wordsAreOurs: Rule = (files, { bannedWords }) => {
  const banned = (name: string) => wordsOf(name).find((word) => bannedWords.includes(word))
  return files.flatMap(({ path, exports }) =>
    [path, ...exports].flatMap((name) => {
      const word = banned(name)
      return word === undefined ? [] : [`${path}: "${word}" in ${name === path ? 'its name' : name} is a banned word`]
    }),
  )
}

export const filesAreKebabCase: Rule = (files) =>
  files
    .filter(({ path }) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.ts$/.test(posix.basename(path)))
    .map(({ path }) => `${path} is not kebab-case`)

export const exportsHaveNames: Rule = (files) =>
  files.filter(({ exports }) => exports.includes('default')).map(({ path }) => `${path} has a default export`)

export const numbersAreListed: Rule = (files, { numbers }) => [
  ...files
    .filter(({ path }) => numbers[path] === undefined)
    .flatMap(({ path, numbers: spots }) => spots.map(({ what, line }) => `${path}:${line} ${what} is on no list`)),
  ...Object.keys(numbers)
    .filter((path) => !files.some((file) => file.path === path && file.numbers.length > 0))
    .map((path) => `${path} is on the list of numbers and makes none`),
]

export const environmentHasReaders: Rule = (files, { environmentReaders }) =>
  files
    .filter(({ path }) => !environmentReaders.includes(path))
    .flatMap(({ path, environment }) => environment.map(({ what, line }) => `${path}:${line} reads ${what}`))
