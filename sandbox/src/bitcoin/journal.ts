import { createHash } from 'node:crypto'
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

/** A change of the chain. Replaying all records in order rebuilds the chain. */
export type JournalRecord = Readonly<{ kind: 'block' | 'transaction' | 'invalidate' | 'reconsider'; bytes: Buffer }>

export type Journal = Readonly<{
  append(record: JournalRecord): void
  close(): void
}>

const kinds = ['block', 'transaction', 'invalidate', 'reconsider'] as const
/** Bytes of a record header: kind (1), length (4, little endian), checksum (4). */
const headerBytes = 9

/**
 * Opens the file and reads its records. Truncates it at the first incomplete or damaged record, which a crash can
 * leave.
 */
export function openJournal(path: string): Journal & { records: JournalRecord[] } {
  const contents = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  const records: JournalRecord[] = []
  let end = 0
  while (end + headerBytes <= contents.length) {
    const kind = kinds[contents.readUInt8(end)]
    const bytes = contents.subarray(end + headerBytes, end + headerBytes + contents.readUInt32LE(end + 1))
    if (!kind || bytes.length !== contents.readUInt32LE(end + 1)) break
    if (!checksum(bytes).equals(contents.subarray(end + 5, end + headerBytes))) break
    records.push({ kind, bytes })
    end += headerBytes + bytes.length
  }
  const file = openSync(path, contents.length === 0 ? 'w' : 'r+')
  ftruncateSync(file, end)
  return {
    records,
    append({ kind, bytes }) {
      const header = Buffer.alloc(headerBytes)
      header.writeUInt8(kinds.indexOf(kind), 0)
      header.writeUInt32LE(bytes.length, 1)
      checksum(bytes).copy(header, 5)
      const record = Buffer.concat([header, bytes])
      writeSync(file, record, 0, record.length, end)
      end += record.length
    },
    close: () => closeSync(file),
  }
}

const checksum = (bytes: Buffer) => createHash('sha256').update(bytes).digest().subarray(0, 4)
