import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { AppError } from '../../core/domain/errors.ts'

/*
 * An append-only log in files of bounded size: `signed.log`, `signed.log.2`, `signed.log.3`, … Each file after the first
 * begins with the SHA-256 of the one before it, so a file that was changed, shortened or exchanged is noticed at the next
 * start. Only the last file is written. Everything is read as a stream, because the log grows for ever (M6).
 */
export const SEGMENT_BYTES = 64 * 1024 * 1024
/** Bytes per read. */
const CHUNK_BYTES = 4 * 1024 * 1024

const NEWLINE = 0x0a

/** `place` is for messages: the file and the line. */
export type Replay = (line: Buffer, place: string) => void

export type Segments = Readonly<{
  /** Resolves when the text is on disk, after all earlier ones. '' only waits. Rejects for ever after a failure. */
  append(text: string): Promise<void>
  /** All lines on disk, oldest first, some at a time. */
  lines(): AsyncGenerator<readonly Buffer[]>
  /** Size of all files. */
  bytes(): number
  /** Number of files, and the acknowledged bytes of the newest: together they only grow. */
  position(): Readonly<{ segments: number; bytes: number }>
  close(): Promise<void>
}>

type Segment = { path: string; handle: FileHandle; bytes: number; digest: ReturnType<typeof createHash> }

const pathOf = (path: string, number: number): string => (number === 1 ? path : `${path}.${number}`)

const headerOf = (number: number, previous: string): string =>
  `${JSON.stringify({ kind: 'segment', number, previous })}\n`

/** Opens the log, replays every line, and cuts off an incomplete last one, whose write was never acknowledged. */
export async function openSegments(path: string, replay: Replay, segmentBytes = SEGMENT_BYTES): Promise<Segments> {
  const count = await countSegments(path)
  let sealedBytes = 0
  let previous: string | null = null
  for (let number = 1; number < count; number++) {
    const sealed: Segment = await readSegment(path, number, previous, 'r', replay)
    await sealed.handle.close()
    sealedBytes += sealed.bytes
    previous = sealed.digest.digest('hex')
  }
  let current = await readSegment(path, count, previous, 'a+', replay)
  let number = count
  let last: Promise<void> = Promise.resolve()

  async function write(text: string): Promise<void> {
    // The lock of the data folder does not reach processes of another container.
    if ((await current.handle.stat()).size !== current.bytes) throw otherWriter(current.path)
    await current.handle.appendFile(text)
    await current.handle.datasync()
    current.digest.update(text)
    current.bytes += Buffer.byteLength(text)
    if (current.bytes < segmentBytes) return
    const next = await startSegment(path, number + 1, current.digest.copy().digest('hex'))
    await current.handle.close()
    sealedBytes += current.bytes
    current = next
    number++
  }

  return {
    append(text) {
      if (text !== '') last = last.then(() => write(text))
      return last
    },
    async *lines() {
      // A file that begins meanwhile is read as well.
      for (let n = 1; n <= number; n++) {
        const handle = await open(pathOf(path, n), 'r')
        try {
          for await (const { lines } of readLines(handle)) yield n > 1 ? lines.filter((line) => !isHeader(line)) : lines
        } finally {
          await handle.close()
        }
      }
    },
    bytes: () => sealedBytes + current.bytes,
    position: () => ({ segments: number, bytes: current.bytes }),
    close: async () => {
      await last.catch(() => undefined)
      await current.handle.close()
    },
  }
}

async function countSegments(path: string): Promise<number> {
  const name = basename(path)
  const files = await readdir(dirname(path))
  // We never write it: a tool that rotates logs has renamed the first file.
  if (files.includes(`${name}.1`)) throw damaged(`${path} was renamed to ${name}.1`)
  const numbers = files.flatMap((file) => {
    if (file === name) return 1
    const suffix = file.startsWith(`${name}.`) ? file.slice(name.length + 1) : ''
    return /^[1-9][0-9]{0,5}$/.test(suffix) ? Number(suffix) : []
  })
  const count = Math.max(1, ...numbers)
  const missing = Array.from({ length: count }, (_, n) => n + 1).find((n) => !numbers.includes(n))
  if (count > 1 && missing !== undefined)
    throw damaged(`${pathOf(path, missing)} is missing, although ${pathOf(path, count)} continues it`)
  return count
}

/** Replays one file. The last one is opened for writing, and made complete after a crash. */
async function readSegment(
  path: string,
  number: number,
  previous: string | null,
  mode: 'r' | 'a+',
  replay: Replay,
): Promise<Segment> {
  const file = pathOf(path, number)
  const handle = await open(file, mode, 0o600)
  const segment: Segment = { path: file, handle, bytes: 0, digest: createHash('sha256') }
  try {
    let n = 0
    let tail: Buffer = Buffer.alloc(0)
    for await (const { lines, bytes, rest } of readLines(handle)) {
      tail = rest
      segment.digest.update(bytes)
      segment.bytes += bytes.length
      for (const line of lines) {
        n++
        if (n > 1 || previous === null) replay(line, `line ${n} of the signing journal ${file}`)
        else if (`${line.toString()}\n` !== headerOf(number, previous))
          throw damaged(`${file} does not continue ${pathOf(path, number - 1)}: one of the two was changed`)
      }
    }
    const { size } = await handle.stat()
    if (size > segment.bytes && mode === 'r') throw damaged(`${file} ends in the middle of a line`)
    if (size > segment.bytes) await cutOff(segment, tail)
    if (segment.bytes === 0 && previous !== null) await writeHeader(segment, headerOf(number, previous))
    if (mode === 'a+') {
      await handle.datasync()
      await syncFolder(path)
    }
  } catch (error) {
    await handle.close()
    throw error
  }
  return segment
}

/** Cuts off an incomplete last line. Another process may have completed it, or appended others, since it was read. */
async function cutOff({ path, handle, bytes }: Segment, tail: Buffer): Promise<void> {
  const buffer = Buffer.alloc(tail.length + 1)
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, bytes)
  if (!buffer.subarray(0, bytesRead).equals(tail)) throw otherWriter(path)
  await handle.truncate(bytes)
}

async function startSegment(path: string, number: number, previous: string): Promise<Segment> {
  const file = pathOf(path, number)
  const handle = await open(file, 'ax', 0o600)
  const segment: Segment = { path: file, handle, bytes: 0, digest: createHash('sha256') }
  await writeHeader(segment, headerOf(number, previous))
  await handle.datasync()
  await syncFolder(path)
  return segment
}

async function writeHeader(segment: Segment, header: string): Promise<void> {
  await segment.handle.appendFile(header)
  segment.digest.update(header)
  segment.bytes += Buffer.byteLength(header)
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r')
  await folder.sync().finally(() => folder.close())
}

const isHeader = (line: Buffer): boolean => line.subarray(0, 17).equals(HEADER_START)
const HEADER_START = Buffer.from('{"kind":"segment"')

type Part = Readonly<{ lines: readonly Buffer[]; bytes: Buffer; rest: Buffer }>

/** The complete lines of a file, some at a time, with their bytes. `rest` of the last part is an incomplete line. */
async function* readLines(handle: FileHandle): AsyncGenerator<Part> {
  let rest: Buffer = Buffer.alloc(0)
  for (let position = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position)
    if (bytesRead === 0) {
      yield { lines: [], bytes: Buffer.alloc(0), rest }
      return
    }
    position += bytesRead
    const text = Buffer.concat([rest, chunk.subarray(0, bytesRead)])
    const end = text.lastIndexOf(NEWLINE) + 1
    rest = text.subarray(end)
    if (end > 0) yield { lines: splitLines(text.subarray(0, end)), bytes: text.subarray(0, end), rest }
  }
}

function splitLines(text: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf(NEWLINE, from)
    lines.push(text.subarray(from, end))
    from = end + 1
  }
  return lines
}

const otherWriter = (path: string): AppError =>
  new AppError(
    'INTERNAL',
    `${path} has another writer; give each worker a data folder of its own, and restart this one`,
  )

function damaged(what: string): AppError {
  return new AppError(
    'INTERNAL',
    `${what}; the signer does not start until an operator has restored the file from its backup`,
  )
}
