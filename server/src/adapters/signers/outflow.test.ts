import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Signer, SignIntent } from '../../exchange/ports/signer.ts'
import { createKeystore, openSigner } from './keystore.ts'

const PASSPHRASE = 'a passphrase of some length'
const HOUR_MS = 3_600_000
const START = Date.UTC(2026, 0, 1)
const asset = { id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null } as const

let folder: string
let files = 0
let now = START
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'swapyard-outflow-'))
  await createKeystore(join(folder, 'keystore.json'), PASSPHRASE, [60])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let journalPath: string
let signer: Signer & { close(): Promise<void> }
const open = async () => {
  signer = await openSigner({
    macs: { isValid: () => true },
    path: join(folder, 'keystore.json'),
    passphrase: PASSPHRASE,
    journalPath,
    signWith: { evm: (intent) => ({ txHash: `0x${intent.family === 'evm' ? intent.nonce : ''}`, raw: 'raw' }) },
    coinTypeOf: () => 60,
    limits: new Map([['eth@eth', { transaction: 10n, hour: 15n, day: 25n }]]),
    addressesOf: () => ({ hot: () => '0xhot', deposit: () => ({ address: '0xdeposit', memo: null }) }),
    now: () => now,
  })
}
beforeEach(async () => {
  now = START
  journalPath = join(folder, `${files++}.log`)
  await open()
  return () => signer.close()
})

let nonce = 0
const intentOf = (payoutId: string, units: bigint, address = '0xa'): SignIntent => ({
  family: 'evm',
  network: 'eth',
  chainId: 1,
  from: { branch: 'hot', index: 0 },
  nonce: nonce++,
  pay: { payoutId, address, memo: null, asset, units },
  gasLimit: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
})
const sign = (intent: SignIntent, purpose: 'payout' | 'refund' = 'payout') =>
  signer.sign(
    intent,
    intent.family === 'evm'
      ? [
          {
            id: intent.pay.payoutId,
            purpose,
            toKeyIndex: null,
            network: 'eth',
            ...{ exchangeId: null, depositId: null, owedFrom: null, mac: null },
            address: intent.pay.address,
            memo: null,
            assetId: asset.id,
            units: intent.pay.units,
          },
        ]
      : [],
  )
const pay = async (payoutId: string, units: bigint, purpose: 'payout' | 'refund' = 'payout') => {
  const intent = intentOf(payoutId, units)
  const signed = await sign(intent, purpose)
  await signer.release({
    ...signed,
    network: 'eth',
    intent,
    feeUnits: 1n,
    conflictKey: `0xhot:${signed.txHash}`,
    wallet: '0xhot',
    from: { branch: 'hot', index: 0 },
  })
}

describe("M22: the signer's own limits", () => {
  test('refuse one payout that is too large, and sign the largest', async () => {
    await expect(sign(intentOf('a', 11n))).rejects.toMatchObject({ window: 'transaction' })
    await sign(intentOf('b', 10n))
  })

  test('apply to a rolling hour and day, and survive a restart without the database', async () => {
    await pay('a', 10n)
    await signer.close()
    await open()
    await expect(sign(intentOf('b', 6n))).rejects.toMatchObject({ window: 'hour' })
    await pay('b', 5n)
    now += HOUR_MS
    await pay('c', 10n)
    await expect(sign(intentOf('d', 1n))).rejects.toMatchObject({ window: 'day' })
    now += 23 * HOUR_MS
    await pay('d', 10n)
  })

  test('count a signed payout once before its release, and payments to our own wallet not at all', async () => {
    await sign(intentOf('a', 10n))
    await expect(sign(intentOf('b', 6n))).rejects.toMatchObject({ window: 'hour' })
    await sign(intentOf('a', 10n))
    await sign(intentOf('sweep', 1_000n, '0xhot'))
    await sign(intentOf('b', 5n))
  })

  // M10: who sends deposits that must be returned could use up what may leave, and stop the payouts of everyone else.
  test('count refunds apart from payouts, also after a restart', async () => {
    await pay('refund-a', 10n, 'refund')
    await pay('refund-b', 5n, 'refund')
    await signer.close()
    await open()
    await expect(sign(intentOf('refund-c', 1n), 'refund')).rejects.toMatchObject({ window: 'hour' })
    await pay('a', 10n)
    await pay('b', 5n)
    await expect(sign(intentOf('c', 1n))).rejects.toMatchObject({ window: 'hour' })
  })

  test('count what was signed and not released apart, too, and bound one refund like one payout', async () => {
    await sign(intentOf('a', 10n))
    await expect(sign(intentOf('refund-a', 11n), 'refund')).rejects.toMatchObject({ window: 'transaction' })
    await sign(intentOf('refund-b', 10n), 'refund')
    await expect(sign(intentOf('refund-c', 6n), 'refund')).rejects.toMatchObject({ window: 'hour' })
    await expect(sign(intentOf('b', 6n))).rejects.toMatchObject({ window: 'hour' })
    await sign(intentOf('b', 5n))
  })
})
