import { mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openSegments, type Segments } from './journal-segments.ts'

let folder: string
let segments: Segments
/** Calls of the file handles, in their order. */
let calls: string[]
/** What a sync does before the disk's own. */
let beforeSync: () => Promise<void>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'swapyard-sync-'))
  const probe = await open(join(folder, 'probe'), 'w')
  const handles = Object.getPrototypeOf(probe) as FileHandle
  await probe.close()
  calls = []
  beforeSync = async () => {}
  for (const name of ['appendFile', 'datasync', 'sync'] as const) {
    const original = handles[name] as (...args: unknown[]) => Promise<void>
    vi.spyOn(handles, name).mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
      calls.push(name)
      if (name !== 'appendFile') await beforeSync()
      return original.apply(this, args)
    })
  }
  segments = await openSegments(join(folder, 'signed.log'), () => undefined, 64)
  calls = []
})
afterEach(async () => {
  vi.restoreAllMocks()
  await segments.close()
  rmSync(folder, { recursive: true, force: true })
})

// T23: a killed process cannot show that a line is only in the memory of the kernel.
test('a line of the signing journal is acknowledged only once it is on disk', async () => {
  let finish = () => {}
  const disk = new Promise<void>((resolve) => {
    finish = resolve
  })
  beforeSync = () => disk
  let isAcknowledged = false
  const appended = segments.append('a line\n').then(() => {
    isAcknowledged = true
  })
  await vi.waitFor(() => expect(calls).toEqual(['appendFile', 'datasync']))
  expect(isAcknowledged).toBe(false)
  finish()
  await appended
})

test('a new file of the signing journal is on disk with its entry in the folder before it is used', async () => {
  await segments.append(`${'x'.repeat(64)}\n`)
  // The line, the header of the next file, and the folder.
  expect(calls).toEqual(['appendFile', 'datasync', 'appendFile', 'datasync', 'sync'])
  expect(segments.position().segments).toBe(2)
})

test('a disk that fails refuses this line and every later one', async () => {
  beforeSync = async () => {
    throw new Error('the disk is full')
  }
  await expect(segments.append('a line\n')).rejects.toThrow('the disk is full')
  beforeSync = async () => {}
  await expect(segments.append('the next line\n')).rejects.toThrow()
})
