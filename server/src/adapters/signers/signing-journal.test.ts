import { createHash } from 'node:crypto'
import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ReleasedTransaction, SignerJournal } from '../../exchange/ports/signer.ts'
import type { Payment } from '../../exchange/ports/spend.ts'
import { openSigningJournal, type SigningJournal } from './signing-journal.ts'

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-journal-'))
  opened.push(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'signed.log')
}

async function open(path: string): Promise<SigningJournal> {
  const journal = await openSigningJournal(path)
  opened.push(() => journal.close().catch(() => undefined))
  return journal
}

const asset = { id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null } as const
const payOf = (payoutId: string, change: Partial<Payment> = {}): Payment => ({
  payoutId,
  address: '0xa',
  memo: null,
  asset,
  units: 5n,
  ...change,
})

const transactionOf = (txHash: string): ReleasedTransaction => ({
  network: 'eth',
  txHash,
  raw: '0xsigned',
  intent: {
    family: 'evm',
    network: 'eth',
    chainId: 1,
    from: { branch: 'hot', index: 0 },
    nonce: 1,
    pay: payOf('a'),
    gasLimit: 21_000n,
    maxFeePerGas: 3n,
    maxPriorityFeePerGas: 1n,
  },
  feeUnits: 63_000n,
  conflictKey: '0xhot:1',
  wallet: '0xhot',
  from: { branch: 'hot', index: 0 },
})

const transactionsOf = async (memory: SignerJournal, txHashes: readonly string[]) => {
  const transactions: ReleasedTransaction[] = []
  for await (const some of memory.releasedTransactions(async () => new Set(txHashes))) transactions.push(...some)
  return transactions
}

describe('the signing journal', () => {
  test('records a cancel of a payout under its own conflict key only, and never as a payment (I-38)', async () => {
    const path = newFile()
    const first = await open(path)
    const cancel = { ...transactionOf('0xcancel'), intent: { ...transactionOf('').intent, cancels: true as const } }
    await first.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await expect(first.release([payOf('a')], 'eth hot:2', cancel)).rejects.toThrow('was released before')
    await first.release([payOf('a')], 'eth hot:1', cancel)
    await first.close()
    const second = await open(path)
    expect((await transactionsOf(second.memory, ['0xcancel']))[0]?.intent).toMatchObject({ cancels: true })
    // The cancel alone permits nothing: only the proof does.
    await expect(second.check([payOf('a')], 'eth hot:2')).rejects.toMatchObject({ txHashes: ['0x1'] })
    await second.recordInvalidation(['a'], { proof: [] })
    await second.release([payOf('a')], 'eth hot:2', transactionOf('0x2'))
    await expect(second.check([payOf('a')], 'eth hot:3')).rejects.toMatchObject({ txHashes: ['0x2'] })
    expect(second.outflows(0).map(({ payoutId }) => payoutId)).toEqual(['a'])
    // This worker released nothing that pays `b`: another one did, and holds it to its own journal.
    await second.release([payOf('b')], 'eth hot:4', cancel)
    await second.release([payOf('b')], 'eth hot:5', transactionOf('0x5'))
    expect(second.outflows(0).map(({ payoutId }) => payoutId)).toEqual(['a', 'b'])
  })

  test('releases a payout repeatedly with one conflict key, also after a restart', async () => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a'), payOf('b')], 'eth hot:1', transactionOf('0x1'))
    await first.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(3)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await first.close()
    const second = await open(path)
    await second.release([payOf('a'), payOf('b')], 'eth hot:1', transactionOf('0x1'))
    await expect(second.release([payOf('b')], 'eth hot:2', transactionOf('0x1'))).rejects.toThrow('was released before')
  })

  test.each([
    ['another address', { address: '0xb' }],
    ['another memo', { memo: '7' }],
    ['another amount', { units: 6n }],
    ['another asset', { asset: { ...asset, id: 'usdt@eth' } as const }],
  ])('refuses to release it to %s, even after a conflict proof', async (_what, change) => {
    const journal = await open(newFile())
    await journal.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await expect(journal.release([payOf('a', change)], 'eth hot:1', transactionOf('0x1'))).rejects.toThrow(
      'was released before',
    )
    await journal.recordInvalidation(['a'], { height: 3 })
    await expect(journal.release([payOf('a', change)], 'eth hot:2', transactionOf('0x1'))).rejects.toThrow(
      'was released before',
    )
  })

  test('releases it with another conflict key after a conflict proof, and with no third one', async () => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await first.recordInvalidation(['a'], { height: 3 })
    await first.release([payOf('a')], 'eth hot:2', transactionOf('0x1'))
    await first.close()
    const second = await open(path)
    await expect(second.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))).rejects.toThrow('was released before')
    await expect(second.release([payOf('a')], 'eth hot:3', transactionOf('0x1'))).rejects.toThrow('was released before')
    await second.release([payOf('a')], 'eth hot:2', transactionOf('0x1'))
  })

  test('releases only one of several concurrent transactions for a payout', async () => {
    const journal = await open(newFile())
    const races = ['eth hot:1', 'eth hot:2', 'eth hot:3'].map((key) =>
      journal.release([payOf('a')], key, transactionOf('0x1')),
    )
    const outcomes = await Promise.allSettled(races)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('writes nothing of a batch if one of its payouts is refused', async () => {
    const path = newFile()
    const journal = await open(path)
    await journal.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await expect(journal.release([payOf('b'), payOf('a')], 'eth hot:2', transactionOf('0x1'))).rejects.toThrow(
      'was released before',
    )
    await journal.release([payOf('b')], 'eth hot:3', transactionOf('0x1'))
    expect(readFileSync(path, 'utf8')).not.toContain('eth hot:2')
  })

  test('cuts off an incomplete last line', async () => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await first.close()
    appendFileSync(path, '{"kind":"released","payoutId":"torn')
    const second = await open(path)
    await second.release([payOf('b')], 'eth hot:2', transactionOf('0x1'))
    await second.close()
    const third = await open(path)
    await expect(third.release([payOf('b')], 'eth hot:3', transactionOf('0x1'))).rejects.toThrow('was released before')
  })

  test.each([
    ['appends a line', '', '{"kind":"expired","payoutId":"a","proof":"{}"}\n'],
    ['completes the last line', '{"kind":"expired","payo', 'utId":"a","proof":"{}"}\n'],
    ['writes on in the last line', '{"kind":"expired","payo', 'utId":'],
  ])('does not open, and cuts off nothing, if another process %s while it is read', async (_what, torn, written) => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await first.close()
    appendFileSync(path, torn)
    const probe = await openFile(path)
    const handles = Object.getPrototypeOf(probe) as FileHandle
    await probe.close()
    // Its size is asked for after it was read.
    const { stat } = handles
    const spy = vi.spyOn(handles, 'stat').mockImplementation(function (this: FileHandle) {
      appendFileSync(path, written)
      return stat.call(this)
    })
    opened.push(() => spy.mockRestore())
    await expect(openSigningJournal(path)).rejects.toThrow('another writer')
    expect(readFileSync(path, 'utf8').endsWith(`\n${torn}${written}`)).toBe(true)
  })

  test.each(['\0\0\0\0\n', '{"kind":"released"\n', 'nonsense\n'])(
    'does not open if an inner line is damaged: %j',
    async (damage) => {
      const path = newFile()
      const line = `${JSON.stringify({ kind: 'released', payoutId: 'a', conflictKey: 'k', destination: 'd', units: '1' })}\n`
      writeFileSync(path, line + damage + line)
      await expect(openSigningJournal(path)).rejects.toThrow('line 2')
    },
  )

  test('releases nothing after another process has written to the file', async () => {
    const path = newFile()
    const journal = await open(path)
    await journal.release([payOf('a')], '0xhot:1', transactionOf('0x1'))
    const other = await open(path)
    await other.release([payOf('b')], '0xhot:2', transactionOf('0x2'))
    await expect(journal.release([payOf('c')], '0xhot:3', transactionOf('0x3'))).rejects.toThrow('another writer')
  })

  test('releases nothing after a failed write', async () => {
    const journal = await open(newFile())
    await journal.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await journal.close()
    await expect(journal.release([payOf('b')], 'eth hot:2', transactionOf('0x1'))).rejects.toThrow()
    await expect(journal.release([payOf('b')], 'eth hot:2', transactionOf('0x1'))).rejects.toThrow()
    await expect(journal.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))).rejects.toThrow()
  })
})

describe('the memory of the signing journal', () => {
  test('has all released transactions with their replacements, and the database generation, after a restart', async () => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await first.release([payOf('a')], 'eth hot:1', transactionOf('0x2'))
    await first.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await first.memory.recordGeneration('018f2b1c-0000-7000-8000-00000000000d')
    const id = await first.memory.recordName()
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect([first.memory.id(), first.memory.generation()]).toEqual([id, '018f2b1c-0000-7000-8000-00000000000d'])
    await first.memory.recordGeneration('018f2b1c-0000-7000-8000-00000000000e')
    await first.close()
    const { memory, outflows } = await open(path)
    expect(memory.generation()).toBe('018f2b1c-0000-7000-8000-00000000000e')
    expect(memory.id()).toBe(id)
    expect(memory.newestReleases()).toMatchObject([
      { payoutId: 'a', network: 'eth', txHash: '0x1', assetId: 'eth@eth', address: '0xa', memo: null, units: 5n },
      { payoutId: 'a', txHash: '0x2' },
    ])
    for await (const releases of memory.allReleases())
      expect(releases).toMatchObject([{ txHash: '0x1' }, { txHash: '0x2' }])
    expect(outflows(0)).toHaveLength(1)
    expect(await transactionsOf(memory, ['0x2'])).toEqual([transactionOf('0x2')])
  })

  test('check refuses what release would refuse', async () => {
    const journal = await open(newFile())
    await journal.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await journal.check([payOf('a')], 'eth hot:1')
    await journal.check([payOf('b')], 'eth hot:2')
    await expect(journal.check([payOf('a')], 'eth hot:2')).rejects.toThrow('was released before')
    await journal.recordInvalidation(['a'], { height: 3 })
    await journal.check([payOf('a')], 'eth hot:2')
  })
})

const DAY_MS = 86_400_000

describe('M6: a journal of several segments', () => {
  /** Small segments: each release fills one. */
  async function openSmall(path: string, now: () => number = Date.now): Promise<SigningJournal> {
    const journal = await openSigningJournal(path, now, 100)
    opened.push(() => journal.close().catch(() => undefined))
    return journal
  }

  async function fill(path: string, ids: readonly string[]): Promise<void> {
    const journal = await openSmall(path)
    for (const [n, id] of ids.entries()) await journal.release([payOf(id)], `eth hot:${n}`, transactionOf(`0x${n}`))
    await journal.close()
  }

  test('refuses what any of them refuses, and names the hash of the segment before', async () => {
    const path = newFile()
    await fill(path, ['a', 'b', 'c'])
    const header = readFileSync(`${path}.2`, 'utf8').split('\n')[0] ?? ''
    const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
    expect(JSON.parse(header)).toEqual({ kind: 'segment', number: 2, previous: digest })
    const journal = await openSmall(path)
    for (const id of ['a', 'b', 'c'])
      await expect(journal.release([payOf(id)], 'eth hot:9', transactionOf('0x9'))).rejects.toThrow('released before')
    expect(journal.memory.newestReleases().map(({ payoutId }) => payoutId)).toEqual(['a', 'b', 'c'])
    expect(await transactionsOf(journal.memory, ['0x0', '0x2'])).toHaveLength(2)
    expect(journal.memory.position()).toEqual({ segments: 4, bytes: statSync(`${path}.4`).size })
    const sizes = [path, `${path}.2`, `${path}.3`, `${path}.4`].map((file) => statSync(file).size)
    expect(journal.memory.bytes()).toBe(sizes.reduce((total, size) => total + size))
  })

  test.each<[string, (path: string) => void, string]>([
    ['a changed segment', (path) => writeFileSync(path, readFileSync(path, 'utf8').replace('"a"', '"x"')), 'changed'],
    ['a shortened segment', (path) => writeFileSync(path, `${readFileSync(path, 'utf8').split('\n')[0]}\n`), 'changed'],
    ['a missing segment', (path) => rmSync(`${path}.2`), 'is missing'],
    ['a missing first segment', (path) => rmSync(path), 'is missing'],
    ['a first segment that was rotated', (path) => renameSync(path, `${path}.1`), 'was renamed'],
    ['a torn inner segment', (path) => appendFileSync(`${path}.2`, 'torn'), 'middle of a line'],
  ])('does not open with %s', async (_what, damage, message) => {
    const path = newFile()
    await fill(path, ['a', 'b', 'c'])
    damage(path)
    await expect(openSmall(path)).rejects.toThrow(message)
  })

  test('continues after a crash that left a segment without its header', async () => {
    const path = newFile()
    await fill(path, ['a'])
    writeFileSync(`${path}.2`, '{"kind":"segm')
    const second = await openSmall(path)
    await second.release([payOf('b')], 'eth hot:2', transactionOf('0x2'))
    await second.close()
    const third = await openSmall(path)
    await expect(third.release([payOf('b')], 'eth hot:3', transactionOf('0x3'))).rejects.toThrow('released before')
  })

  test('refuses another nonce for a payout whose later lines were read after its first ones were forgotten', async () => {
    const path = newFile()
    let now = Date.parse('2026-01-01T00:00:00Z')
    const first = await openSigningJournal(path, () => now)
    for (const id of ['cancelled', 'raised', 'proved'])
      await first.release([payOf(id)], `eth hot:${id}`, transactionOf(`0x${id}`))
    await first.close()
    // Between the lines of a payout, memory is released once.
    appendFileSync(path, `${JSON.stringify({ kind: 'expired', payoutId: 'other', proof: '{}' })}\n`.repeat(50_000))
    now += 30 * DAY_MS
    const second = await openSigningJournal(path, () => now)
    const cancel = { ...transactionOf('0xcancel'), intent: { ...transactionOf('').intent, cancels: true as const } }
    await second.release([payOf('cancelled')], 'eth hot:cancelled', cancel)
    await second.release([payOf('raised')], 'eth hot:raised', transactionOf('0xhigher'))
    await second.recordInvalidation(['proved'], { height: 3 })
    await second.close()
    const third = await openSigningJournal(path, () => now)
    opened.push(() => third.close())
    await expect(third.check([payOf('cancelled')], 'eth hot:9')).rejects.toMatchObject({ txHashes: ['0xcancelled'] })
    await expect(third.check([payOf('raised')], 'eth hot:9')).rejects.toMatchObject({
      txHashes: ['0xraised', '0xhigher'],
    })
    await third.check([payOf('proved')], 'eth hot:9')
    await expect(third.check([payOf('proved', { units: 6n })], 'eth hot:9')).rejects.toThrow('released before')
    expect(third.memory.newestReleases().map(({ txHash }) => txHash)).toEqual(
      expect.arrayContaining(['0xcancelled', '0xcancel', '0xhigher']),
    )
    expect(third.outflows(now - DAY_MS)).toEqual([])
  })

  test('refuses a second transaction for a payout that is no longer in memory', async () => {
    const path = newFile()
    let now = Date.parse('2026-01-01T00:00:00Z')
    const journal = await openSmall(path, () => now)
    await journal.release([payOf('old')], 'eth hot:1', transactionOf('0x1'))
    await journal.release([payOf('expired')], 'eth hot:2', transactionOf('0x2'))
    await journal.recordInvalidation(['expired'], { height: 3 })
    now += 30 * DAY_MS
    // Releases memory: from here on the first two are known from the disk alone.
    await journal.release([payOf('new')], 'eth hot:3', transactionOf('0x3'))
    const checkBoth = async (one: SigningJournal) => {
      await expect(one.check([payOf('old')], 'eth hot:4')).rejects.toThrow('released before')
      await expect(one.release([payOf('old')], 'eth hot:4', transactionOf('0x4'))).rejects.toThrow('released before')
      await one.release([payOf('old')], 'eth hot:1', transactionOf('0x1'))
      await one.check([payOf('expired')], 'eth hot:5')
      await expect(one.check([payOf('expired', { units: 6n })], 'eth hot:5')).rejects.toThrow('released before')
      expect(one.outflows(now - DAY_MS).map(({ payoutId }) => payoutId)).toEqual(['new'])
    }
    await checkBoth(journal)
    await journal.close()
    await checkBoth(await openSmall(path, () => now))
  })
})
