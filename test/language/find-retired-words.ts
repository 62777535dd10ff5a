import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { avoided, exceptions, retired } from './retired-words.ts'

export type Hit = Readonly<{ path: string; line: number; word: string; text: string }>

const root = join(import.meta.dirname, '../..')
const TEXT = /\.(ts|mts|mjs|sql|sol|md|json|yml)$/
/** Generated files, and files copied from other projects. */
const EXCLUDED = /(^|\/)(generated|vectors)\/|package-lock\.json$|^LICENSE$|\.generated\./

const words = (patterns: readonly string[]) => new RegExp(`(?<![A-Za-z_])(${patterns.join('|')})(?![A-Za-z_])`, 'gi')
const textPattern = words([...Object.values(retired).flatMap(({ text }) => text), ...avoided])
const retiredNames = new Set(Object.values(retired).flatMap(({ name }) => name))
/** Declarations of TypeScript with the name that follows. */
const DECLARATION = /\b(?:const|let|function\*?|class|type|interface)\s+([A-Za-z_$][\w$]*)/g

/** Tracked files, and untracked files that git does not ignore. */
export const textFiles = (): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => TEXT.test(path) && !EXCLUDED.test(path))

export const partsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)

/** Retired words of a file without an exception, in the order of the lines. Line 0 is the file name. */
export function findRetiredWords(path: string, content: string): Hit[] {
  const isExcepted = (word: string) =>
    exceptions.some((one) => one.files.test(path) && new RegExp(`^(?:${one.word.source})$`, 'i').test(word))
  const fileName = partsOf(basename(path))
    .filter((part) => retiredNames.has(part))
    .map((word) => ({ path, line: 0, word, text: path }))
  const hits = content.split('\n').flatMap((text, index) => {
    const used = [...text.matchAll(textPattern)].map(([word]) => word)
    const declared = /\.(ts|mts|mjs)$/.test(path)
      ? [...text.matchAll(DECLARATION)].flatMap(([, name = '']) =>
          partsOf(name).filter((part) => retiredNames.has(part)),
        )
      : []
    return [...new Set([...used, ...declared])].map((word) => ({ path, line: index + 1, word, text: text.trim() }))
  })
  return [...fileName, ...hits].filter(({ word }) => word !== '' && !isExcepted(word))
}

export const findInRepository = (paths: readonly string[] = textFiles()): Hit[] =>
  paths.flatMap((path) => findRetiredWords(path, readFileSync(join(root, path), 'utf8')))
