import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { docPages } from '../../server/src/pages/docs/page-list.ts'

export const languages = ['sh', 'ts', 'python'] as const
export type Language = (typeof languages)[number]
/** The same in each language: three blocks in a row. */
export type Sample = Readonly<Record<Language, string>>
type Block = Readonly<{ language: string; code: string }>

const root = join(import.meta.dirname, '../..')
/** The address of the sandbox in the samples. */
export const SAMPLE_URL = 'http://127.0.0.1:8080'
/** Every page that partners see. */
export const partnerPages: readonly string[] = docPages.map(({ file }) => file)

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8')

/** Every block of code of a page, indented ones too. `isFollowed`: the next one begins on the next line. */
function readBlocks(page: string): readonly (Block & { isFollowed: boolean })[] {
  const text = readPage(page)
  return [...text.matchAll(/^( *)```(\S*)\n([\s\S]*?)^\1```$/gm)].map((match) => {
    const [all, , language = '', code = ''] = match
    return { language, code, isFollowed: text.startsWith('\n```', match.index + all.length) }
  })
}

function split(page: string): { groups: readonly Sample[]; singles: readonly Block[] } {
  const rest = [...readBlocks(page)]
  const groups: Sample[] = []
  const singles: Block[] = []
  while (rest.length > 0) {
    const [sh, ts, python] = rest
    const isGroup =
      rest
        .slice(0, languages.length)
        .map(({ language }) => language)
        .join() === languages.join() &&
      sh?.isFollowed &&
      ts?.isFollowed
    if (isGroup) groups.push({ sh: sh.code, ts: ts.code, python: python?.code ?? '' })
    else if (sh !== undefined) singles.push(sh)
    rest.splice(0, isGroup ? languages.length : 1)
  }
  return { groups, singles }
}

/** The samples in three languages. */
export const groupsOf = (page: string): readonly Sample[] => split(page).groups
/** All other blocks. */
export const singlesOf = (page: string): readonly Block[] => split(page).singles
/** The other blocks in one language. */
export const blocksOf = (page: string, language: string): readonly string[] =>
  singlesOf(page)
    .filter((block) => block.language === language)
    .map(({ code }) => code)

/** The samples of a page build upon each other. */
export function programOf(page: string): Sample {
  const groups = groupsOf(page)
  const join = (language: Language) => groups.map((group) => group[language]).join('\n')
  return { sh: join('sh'), ts: join('ts'), python: join('python') }
}
