import { createHash } from 'node:crypto'
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

/** What happened to the chain, in order. Playing it again gives the same chain. */
export type JournalRecord = Readonly<{ kind: 'block' | 'transaction' | 'invalidate' | 'reconsider'; bytes: Buffer }>

export type Journal = Readonly<{
  append(record: JournalRecord): void
  close(): void
}>

const kinds = ['block', 'transaction', 'invalidate', 'reconsider'] as const
/** Kind (1), length (4, little endian), checksum (4). */
const headBytes = 9

/** Opens the file and answers what is in it. A record that was cut off by a crash ends it, and is cut off for good. */
export function openJournal(path: string): Journal & { records: JournalRecord[] } {
  const before = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  const records: JournalRecord[] = []
  let end = 0
  while (end + headBytes <= before.length) {
    const kind = kinds[before.readUInt8(end)]
    const bytes = before.subarray(end + headBytes, end + headBytes + before.readUInt32LE(end + 1))
    if (!kind || bytes.length !== before.readUInt32LE(end + 1)) break
    if (!checksum(bytes).equals(before.subarray(end + 5, end + headBytes))) break
    records.push({ kind, bytes })
    end += headBytes + bytes.length
  }
  const file = openSync(path, before.length === 0 ? 'w' : 'r+')
  ftruncateSync(file, end)
  return {
    records,
    append({ kind, bytes }) {
      const head = Buffer.alloc(headBytes)
      head.writeUInt8(kinds.indexOf(kind), 0)
      head.writeUInt32LE(bytes.length, 1)
      checksum(bytes).copy(head, 5)
      const record = Buffer.concat([head, bytes])
      writeSync(file, record, 0, record.length, end)
      end += record.length
    },
    close: () => closeSync(file),
  }
}

const checksum = (bytes: Buffer) => createHash('sha256').update(bytes).digest().subarray(0, 4)
