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

describe('the signing journal', () => {
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
    await journal.expire(['a'], { height: 3 })
    await expect(journal.release([payOf('a', change)], 'eth hot:2', transactionOf('0x1'))).rejects.toThrow(
      'was released before',
    )
  })

  test('releases it with another conflict key after a conflict proof, and with no third one', async () => {
    const path = newFile()
    const first = await open(path)
    await first.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    await first.expire(['a'], { height: 3 })
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

  test.each(['\0\0\0\0\n', '{"kind":"released"\n', 'nonsense\n'])(
    'does not open if an inner line is damaged: %j',
    async (damage) => {
      const path = newFile()
      const line = `${JSON.stringify({ kind: 'released', payoutId: 'a', conflictKey: 'k', destination: 'd', units: '1' })}\n`
      writeFileSync(path, line + damage + line)
      await expect(openSigningJournal(path)).rejects.toThrow('line 2')
    },
  )

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
    expect(await memory.releasedTransactions(new Set(['0x2']))).toEqual([transactionOf('0x2')])
  })

  test('check refuses what release would refuse', async () => {
    const journal = await open(newFile())
    await journal.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
    expect(() => journal.check([payOf('a')], 'eth hot:1')).not.toThrow()
    expect(() => journal.check([payOf('b')], 'eth hot:2')).not.toThrow()
    expect(() => journal.check([payOf('a')], 'eth hot:2')).toThrow('was released before')
    await journal.expire(['a'], { height: 3 })
    expect(() => journal.check([payOf('a')], 'eth hot:2')).not.toThrow()
  })

  test('enforces the lines of versions that did not compare it with the database', async () => {
    const path = newFile()
    writeFileSync(
      path,
      `${JSON.stringify({ kind: 'released', payoutId: 'a', conflictKey: 'eth hot:1', destination: 'eth@eth 0xa ', units: '5' })}\n`,
    )
    const journal = await open(path)
    expect(journal.memory.releases()).toEqual([])
    await expect(journal.release([payOf('a')], 'eth hot:2', transactionOf('0x1'))).rejects.toThrow(
      'was released before',
    )
    await journal.release([payOf('a')], 'eth hot:1', transactionOf('0x1'))
  })
})
