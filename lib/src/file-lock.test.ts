import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { FileLockedError, lockFile, readHolder } from './file-lock.ts'

const children: ChildProcess[] = []
const folders: string[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true })
})

/** The path of a lock file that does not exist yet. */
function newFile(): string {
  const path = mkdtempSync(join(tmpdir(), 'swapyard-lock-'))
  folders.push(path)
  return join(path, 'some.lock')
}

/** Starts a process that takes the lock and keeps it; `reply` is `locked` or the error message. */
async function lockElsewhere(path: string): Promise<{ child: ChildProcess; reply: string }> {
  const program = `const { lockFile } = await import(${JSON.stringify(join(import.meta.dirname, 'file-lock.ts'))})
    try { lockFile(${JSON.stringify(path)}).write({ note: 'kept' }); console.log('locked') } catch (error) { console.log(error.message) }
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const reply = await new Promise<string>((resolve) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8').trim()))
  })
  return { child, reply }
}

describe('a lock file', () => {
  test('refuses a second process and names the first', async () => {
    const file = newFile()
    const first = await lockElsewhere(file)
    expect(first.reply).toBe('locked')
    expect(() => lockFile(file)).toThrow(`process ${first.child.pid}`)
    expect((await lockElsewhere(file)).reply).toContain(`process ${first.child.pid}`)
    expect(readHolder(file)).toMatchObject({ pid: first.child.pid })
  })

  test('is taken over from a killed process, with what that process wrote', async () => {
    const file = newFile()
    const { child } = await lockElsewhere(file)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    expect(readHolder(file)).toBeNull()
    const lock = lockFile(file)
    expect(lock.stale).toMatchObject({ pid: child.pid, note: 'kept' })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(readHolder(file))
    lock.release()
    expect(existsSync(file)).toBe(false)
  })

  test('is taken over when another program has the pid by now', () => {
    const file = newFile()
    writeFileSync(file, JSON.stringify({ pid: process.ppid, startedAt: 'long ago' }))
    lockFile(file).release()
  })

  test('is taken over when the file is not whole', () => {
    const file = newFile()
    writeFileSync(file, '{"pid":')
    expect(lockFile(file).stale).toBeNull()
  })

  test('is not given twice to the same process, and is free after release', () => {
    const file = newFile()
    const lock = lockFile(file)
    expect(lock.stale).toBeNull()
    expect(() => lockFile(file)).toThrow(FileLockedError)
    lock.release()
    lockFile(file).release()
  })

  test('goes to one of many processes that take over at once', async () => {
    const file = newFile()
    writeFileSync(file, JSON.stringify({ pid: 1, startedAt: 'long ago' }))
    const replies = await Promise.all(Array.from({ length: 6 }, () => lockElsewhere(file)))
    expect(replies.filter(({ reply }) => reply === 'locked')).toHaveLength(1)
  })
})
