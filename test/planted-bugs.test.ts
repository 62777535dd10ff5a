import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { plantedBugs } from './chaos/planted-bugs.ts'

const root = join(import.meta.dirname, '..')

test.each(plantedBugs.flatMap(({ name, patches }) => patches.map((patch) => [name, patch] as const)))(
  'the place where the bug "%s" is planted is in the source once',
  (_name, { file, find }) => {
    expect(readFileSync(join(root, file), 'utf8').split(find)).toHaveLength(2)
  },
)
