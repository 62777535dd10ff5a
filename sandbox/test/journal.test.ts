import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openJournal } from '../src/bitcoin/journal.ts'
import { temporaryFolder } from './running-sandbox.ts'

let folder: ReturnType<typeof temporaryFolder>
let file: string
beforeEach(() => {
  folder = temporaryFolder()
  file = join(folder.path, 'blocks.journal')
  const journal = openJournal(file)
  journal.append({ kind: 'block', bytes: Buffer.from('first') })
  journal.append({ kind: 'invalidate', bytes: Buffer.from('second') })
  journal.close()
})
afterEach(() => folder.remove())

const readRecords = () => {
  const journal = openJournal(file)
  journal.close()
  return journal.records.map(({ kind, bytes }) => `${kind} ${bytes.toString()}`)
}

test('reads the appended records in order', () => {
  expect(readRecords()).toEqual(['block first', 'invalidate second'])
})

test('drops an incomplete last record and overwrites it', () => {
  truncateSync(file, readFileSync(file).length - 2)
  const journal = openJournal(file)
  expect(journal.records).toHaveLength(1)
  journal.append({ kind: 'reconsider', bytes: Buffer.from('third') })
  journal.close()
  expect(readRecords()).toEqual(['block first', 'reconsider third'])
})

test('ignores a damaged record and all records after it', () => {
  const bytes = readFileSync(file)
  bytes.writeUInt8(bytes.readUInt8(10) ^ 1, 10)
  writeFileSync(file, bytes)
  expect(readRecords()).toEqual([])
})

test('truncates garbage at the end', () => {
  appendFileSync(file, Buffer.alloc(40, 7))
  expect(readRecords()).toEqual(['block first', 'invalidate second'])
})
