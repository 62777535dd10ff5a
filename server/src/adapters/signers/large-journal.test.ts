import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, test } from 'vitest'
import { openSigningJournal } from './signing-journal.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-large-journal-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const MEBIBYTE = 1024 ** 2
/** Above the longest string of the engine (2^29 − 24 characters), which the whole file once had to fit. */
const BYTES = 600 * MEBIBYTE
/** A transaction with its release takes about this many bytes on an EVM network. */
const TRANSACTION_BYTES = 1_200

/** Bytes of the objects and buffers that are still reachable: the files before this one in the same process leave garbage. */
function usedMemory(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The most bytes of buffers beyond those before, looked at once a millisecond. */
async function watchBuffers<T>(work: () => Promise<T>): Promise<{ peak: number; result: T }> {
  const before = process.memoryUsage().external
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().external - before)
  }, 1)
  const result = await work()
  clearInterval(timer)
  return { peak, result }
}

const released = (payoutId: string, n: number): string =>
  JSON.stringify({
    kind: 'released',
    payoutId,
    conflictKey: `eth hot/0:${n}`,
    destination: 'eth@eth 0xa ',
    units: '5',
    network: 'eth',
    txHash: `0x${n}`,
    assetId: 'eth@eth',
    address: '0xa',
    memo: null,
    at: '2020-01-01T00:00:00.000Z',
  })

test('M6: opens a journal of 600 MiB in little memory, still refuses its first payout, and notices one changed digit', async () => {
  const path = join(folder, 'signed.log')
  const file = createWriteStream(path)
  const first = randomUUID()
  const transaction = `{"kind":"transaction","raw":"0x${'ab'.repeat(TRANSACTION_BYTES / 2)}"}\n`
  for (let n = 0, bytes = 0; bytes < BYTES; ) {
    let text = ''
    for (let lines = 0; lines < 1_000; lines++, n++)
      text += `${transaction}${released(n === 0 ? first : randomUUID(), n)}\n`
    bytes += text.length
    if (!file.write(text)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'finish')
  expect(statSync(path).size).toBeGreaterThan(BYTES)
  const before = usedMemory()
  const { peak, result: journal } = await watchBuffers(() => openSigningJournal(path))
  // Read in pieces: the file itself has 600 MiB.
  expect(peak).toBeLessThan(200 * MEBIBYTE)
  const used = usedMemory() - before
  // With every payout in memory it was about 400 MiB.
  expect(used).toBeLessThan(150 * MEBIBYTE)
  const asset = { id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null } as const
  const pay = { payoutId: first, address: '0xa', memo: null, asset, units: 5n }
  await expect(journal.check([pay], 'eth hot/0:9')).rejects.toThrow('was released before')
  await journal.check([pay], 'eth hot/0:0')
  await journal.recordInvalidation([first], { height: 3 })
  // The large file is closed; new lines are in a new one.
  await journal.memory.recordGeneration('018f2b1c-0000-7000-8000-00000000000e')
  await journal.close()
  const [header = ''] = readFileSync(`${path}.2`, 'utf8').split('\n')
  expect(JSON.parse(header)).toEqual({ kind: 'segment', number: 2, previous: await hashOf(path) })
  // One changed digit in the middle of the large file.
  const changed = openSync(path, 'r+')
  writeSync(changed, '0', BYTES / 2)
  closeSync(changed)
  await expect(openSigningJournal(path)).rejects.toThrow('one of the two was changed')
})

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(file)) hash.update(bytes)
  return hash.digest('hex')
}
