import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { ReleasedTransaction } from '../../exchange/ports/signer.ts'
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

const departureOf = (txHash: string): ReleasedTransaction => ({
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

describe('the signing journal', () => {
  test('lets one payout leave by one conflict key, as often as it likes, in this life and the next', async () => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a'), payOf('b')], 'eth hot:1', departureOf('0x1'))
    await first.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(3)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await first.close()
    const second = await open(path)
    await second.release([payOf('a'), payOf('b')], 'eth hot:1', departureOf('0x1'))
    await expect(second.release([payOf('b')], 'eth hot:2', departureOf('0x1'))).rejects.toThrow('left before')
  })

  test.each([
    ['another address', { address: '0xb' }],
    ['another memo', { memo: '7' }],
    ['another amount', { units: 6n }],
    ['another asset', { asset: { ...asset, id: 'usdt@eth' } as const }],
  ])('never lets it leave to %s, not even after a proof of death', async (_what, change) => {
    const journal = await open(newFile())
    await journal.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
    await expect(journal.release([payOf('a', change)], 'eth hot:1', departureOf('0x1'))).rejects.toThrow('left before')
    await journal.expire(['a'], { height: 3 })
    await expect(journal.release([payOf('a', change)], 'eth hot:2', departureOf('0x1'))).rejects.toThrow('left before')
  })

  test('lets it leave by another key once its death is proven, and by no third', async () => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
    await first.expire(['a'], { height: 3 })
    await first.release([payOf('a')], 'eth hot:2', departureOf('0x1'))
    await first.close()
    const second = await open(path)
    await expect(second.release([payOf('a')], 'eth hot:1', departureOf('0x1'))).rejects.toThrow('left before')
    await expect(second.release([payOf('a')], 'eth hot:3', departureOf('0x1'))).rejects.toThrow('left before')
    await second.release([payOf('a')], 'eth hot:2', departureOf('0x1'))
  })

  test('of two that race for one payout, one wins', async () => {
    const journal = await open(newFile())
    const races = ['eth hot:1', 'eth hot:2', 'eth hot:3'].map((key) =>
      journal.release([payOf('a')], key, departureOf('0x1')),
    )
    const outcomes = await Promise.allSettled(races)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('writes nothing of a batch in which one payout is refused', async () => {
    const path = newFile()
    const journal = await open(path)
    await journal.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
    await expect(journal.release([payOf('b'), payOf('a')], 'eth hot:2', departureOf('0x1'))).rejects.toThrow(
      'left before',
    )
    await journal.release([payOf('b')], 'eth hot:3', departureOf('0x1'))
    expect(readFileSync(path, 'utf8')).not.toContain('eth hot:2')
  })

  test('cuts off a torn last line, so that the next one is whole', async () => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
    await first.close()
    appendFileSync(path, '{"kind":"released","payoutId":"torn')
    const second = await open(path)
    await second.release([payOf('b')], 'eth hot:2', departureOf('0x1'))
    await second.close()
    const third = await open(path)
    await expect(third.release([payOf('b')], 'eth hot:3', departureOf('0x1'))).rejects.toThrow('left before')
  })

  test.each(['\0\0\0\0\n', '{"kind":"released"\n', 'nonsense\n'])(
    'does not open over damage within it: %j',
    async (damage) => {
      const path = newFile()
      const line = `${JSON.stringify({ kind: 'released', payoutId: 'a', conflictKey: 'k', destination: 'd', units: '1' })}\n`
      writeFileSync(path, line + damage + line)
      await expect(openSigningJournal(path)).rejects.toThrow('line 2')
    },
  )

  test('releases nothing any more once it could not write', async () => {
    const journal = await open(newFile())
    await journal.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
    await journal.close()
    await expect(journal.release([payOf('b')], 'eth hot:2', departureOf('0x1'))).rejects.toThrow()
    await expect(journal.release([payOf('b')], 'eth hot:2', departureOf('0x1'))).rejects.toThrow()
    await expect(journal.release([payOf('a')], 'eth hot:1', departureOf('0x1'))).rejects.toThrow()
  })
})

describe('the memory of the signing journal', () => {
  test('has every transaction that left, with its replacements, and the life of the database, in the next life too', async () => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
    await first.release([payOf('a')], 'eth hot:1', departureOf('0x2'))
    await first.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
    await first.memory.recordGeneration('018f2b1c-0000-7000-8000-00000000000e')
    await first.close()
    const { memory, outflows } = await open(path)
    expect(memory.generation()).toBe('018f2b1c-0000-7000-8000-00000000000e')
    expect(memory.releases()).toMatchObject([
      { payoutId: 'a', network: 'eth', txHash: '0x1', assetId: 'eth@eth', address: '0xa', memo: null, units: 5n },
      { payoutId: 'a', txHash: '0x2' },
    ])
    expect(memory.releases(1)).toMatchObject([{ txHash: '0x2' }])
    expect(outflows(0)).toHaveLength(1)
    expect(await memory.releasedTransactions(new Set(['0x2']))).toEqual([departureOf('0x2')])
  })

  test('refuses before anything is signed what it would not release', async () => {
    const journal = await open(newFile())
    await journal.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
    expect(() => journal.check([payOf('a')], 'eth hot:1')).not.toThrow()
    expect(() => journal.check([payOf('b')], 'eth hot:2')).not.toThrow()
    expect(() => journal.check([payOf('a')], 'eth hot:2')).toThrow('left before')
    await journal.expire(['a'], { height: 3 })
    expect(() => journal.check([payOf('a')], 'eth hot:2')).not.toThrow()
  })

  test('opens the lines of before the comparison, which bind as they did', async () => {
    const path = newFile()
    writeFileSync(
      path,
      `${JSON.stringify({ kind: 'released', payoutId: 'a', conflictKey: 'eth hot:1', destination: 'eth@eth 0xa ', units: '5' })}\n`,
    )
    const journal = await open(path)
    expect(journal.memory.releases()).toEqual([])
    await expect(journal.release([payOf('a')], 'eth hot:2', departureOf('0x1'))).rejects.toThrow('left before')
    await journal.release([payOf('a')], 'eth hot:1', departureOf('0x1'))
  })
})
