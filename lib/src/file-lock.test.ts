import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { FolderLockedError, lockFolder } from './lock.ts'

const children: ChildProcess[] = []
const folders: string[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true })
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'swapyard-lock-'))
  folders.push(path)
  return path
}

/** A process of its own that takes the folder; resolves to `locked` or to the message of the refusal. */
async function lockElsewhere(path: string): Promise<{ child: ChildProcess; reply: string }> {
  const program = `const { lockFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'lock.ts'))})
    try { lockFolder(${JSON.stringify(path)}); console.log('locked') } catch (error) { console.log(error.message) }
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

describe('the lock of a folder', () => {
  test('refuses a second process and names the first', async () => {
    const path = folder()
    const first = await lockElsewhere(path)
    expect(first.reply).toBe('locked')
    expect(() => lockFolder(path)).toThrow(`process ${first.child.pid}`)
    expect((await lockElsewhere(path)).reply).toContain(`process ${first.child.pid}`)
  })

  test('is taken over from a process that was killed', async () => {
    const path = folder()
    const { child } = await lockElsewhere(path)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    const lock = lockFolder(path)
    expect(JSON.parse(readFileSync(join(path, 'swapyard.lock'), 'utf8'))).toMatchObject({ pid: process.pid })
    lock.release()
    expect(existsSync(join(path, 'swapyard.lock'))).toBe(false)
  })

  test('is taken over where its pid is another program by now', () => {
    const path = folder()
    writeFileSync(join(path, 'swapyard.lock'), JSON.stringify({ pid: process.ppid, startedAt: 'long ago' }))
    lockFolder(path).release()
  })

  test('is taken over where the file is not whole', () => {
    const path = folder()
    writeFileSync(join(path, 'swapyard.lock'), '{"pid":')
    lockFolder(path).release()
  })

  test('is not given twice to the same process, and is free again after release', () => {
    const path = folder()
    const lock = lockFolder(path)
    expect(() => lockFolder(path)).toThrow(FolderLockedError)
    lock.release()
    lockFolder(path).release()
  })

  test('goes to one of many that take over at once', async () => {
    const path = folder()
    writeFileSync(join(path, 'swapyard.lock'), JSON.stringify({ pid: 1, startedAt: 'long ago' }))
    const replies = await Promise.all(Array.from({ length: 6 }, () => lockElsewhere(path)))
    expect(replies.filter(({ reply }) => reply === 'locked')).toHaveLength(1)
  })
})
