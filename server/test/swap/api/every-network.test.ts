import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { fromBase64 } from '@mysten/sui/utils'
import { type Hex, keccak256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSolanaUser } from '../../../../sandbox/src/solana/solana-user.fixture.ts'
import { startScenarioOnOwnChains } from '../../../../test/support/own-chains.ts'
import type { Json, Scenario } from '../../../../test/support/scenario.ts'
import { sandboxFeeAddress } from '../../../src/app/sandbox-fees.ts'
import { swapNetworks } from '../../../src/swap/domain/swap.ts'
import { NATIVE, sign as signEvm } from './partner.ts'

/* Each of the seven DeFi operations of the specification, on each of its fourteen networks. */

/** A user of one family: signs as its wallets do. */
type Wallet = Readonly<{ address: string; sign(unsigned: string): Promise<string> }>
type Family = Readonly<{
  native: string
  /** Only the addresses of EVM networks have a checksum of upper and lower case. */
  canonical(address: string): string
  createWallet(): Promise<Wallet>
  /** Unsigned transactions of a swap from a token. */
  transactions: number
  hash: RegExp
}>

const families: Readonly<Record<string, Family>> = {
  evm: {
    native: NATIVE,
    canonical: (address) => address.toLowerCase(),
    createWallet: async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      return { address: account.address, sign: (unsigned) => signEvm(account, unsigned) }
    },
    transactions: 2,
    hash: /^0x[0-9a-f]{64}$/,
  },
  solana: {
    native: 'So11111111111111111111111111111111111111112',
    canonical: (address) => address,
    createWallet: createSolanaUser,
    transactions: 1,
    hash: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/,
  },
  sui: {
    native: '0x2::sui::SUI',
    canonical: (address) => address,
    createWallet: async () => {
      const keypair = Ed25519Keypair.generate()
      const sign = async (unsigned: string) => JSON.stringify(await keypair.signTransaction(fromBase64(unsigned)))
      return { address: keypair.toSuiAddress(), sign }
    },
    transactions: 1,
    hash: /^[1-9A-HJ-NP-Za-km-z]{43,44}$/,
  },
}

let scenario: Scenario
beforeAll(async () => {
  const feeAddresses = new Map(
    swapNetworks.map((id) => [id, sandboxFeeAddress({ sol: 'solana', sui: 'sui' }[id as string] ?? 'evm')]),
  )
  scenario = await startScenarioOnOwnChains({ networks: swapNetworks, swaps: { feeAddresses } })
})
afterAll(() => scenario?.stop())

const get = (operation: string, query: Readonly<Record<string, string>>) =>
  scenario.call('GET', `/v1/defi/${operation}?${new URLSearchParams(query)}`)
const post = (operation: string, body: object) => scenario.call('POST', `/v1/defi/${operation}`, body)
const hashIn = ({ body }: Json): string => JSON.parse(body)

test('the table has every network of the specification', async () => {
  expect(swapNetworks).toHaveLength(14)
  const { body } = await get('networks', {})
  expect(body.map(({ network, enabled }: Json) => [network, enabled])).toEqual(swapNetworks.map((id) => [id, true]))
})

// The tests mostly wait for blocks, so the networks run concurrently; on each network one operation after the other.
describe.for(swapNetworks)('on %s', { concurrent: true }, (network) => {
  const inTurn = { concurrent: false }
  let family: Family
  let wallet: Wallet
  let usdc = ''
  let trade: Readonly<
    Record<'network' | 'fromTokenAddress' | 'toTokenAddress' | 'amount' | 'slippage' | 'referrerFee', string>
  >
  let quoted: Json
  let signed: readonly string[] = []
  let hash = ''

  beforeAll(async () => {
    const deployed = scenario.chains.networks.find((one) => one.network === network)
    family = families[deployed?.family ?? ''] as Family
    const listed = deployed?.defiTokens?.find(({ symbol }) => symbol === 'USDC')?.address
    usdc = listed ?? deployed?.tokens['usdc'] ?? ''
    wallet = await family.createWallet()
    for (const [currency, amount] of [
      ['native', '50'],
      ['usdc', '500'],
    ] as const)
      await scenario.control('/deposits', { network, currency, address: wallet.address, amount })
    trade = {
      ...{ network, fromTokenAddress: usdc, toTokenAddress: family.native, amount: '100' },
      ...{ slippage: '1', referrerFee: '0.5' },
    }
    // The pools are read, and the blocks of the deposits are known.
    await scenario.until(`a quote on ${network}`, async () => (await get('quote', trade)).status === 200)
    await scenario.until(
      `the deposits on ${network}`,
      async () => (await post('transaction/swap', { ...trade, account: wallet.address })).status === 201,
    )
  })

  test('GET available-currencies lists the coin and USDC', inTurn, async () => {
    const { status, body } = await get('available-currencies', { network, limit: '500' })
    expect(status).toBe(200)
    const enabled = body.filter((one: Json) => one.enabled).map(({ address }: Json) => family.canonical(address))
    expect(enabled).toEqual(expect.arrayContaining([family.native, usdc].map(family.canonical)))
  })

  test('GET currency/info tells the metadata of a token', inTurn, async () => {
    const { status, body } = await get('currency/info', { network, address: usdc })
    expect([status, body]).toMatchObject([200, { symbol: 'USDC', network }])
    expect(family.canonical(body.address)).toBe(family.canonical(usdc))
  })

  test('GET quote says what the swap would pay, less the fee', inTurn, async () => {
    quoted = (await get('quote', trade)).body
    const [out, received] = [BigInt(quoted.toAmountRaw), BigInt(quoted.receivedAmountRaw)]
    // The fee is rounded down.
    expect(out - received).toBe((out * 5n) / 1_000n)
    expect(received > 0n && quoted.routes.length > 0).toBe(true)
  })

  test('POST transaction/swap returns what the family needs signed', inTurn, async () => {
    const { status, body } = await post('transaction/swap', { ...trade, account: wallet.address })
    expect([status, body.length]).toEqual([201, family.transactions])
    signed = await Promise.all(body.map(wallet.sign))
  })

  test('POST send/approve sends an approval, where the family has one', inTurn, async () => {
    const sent = await post('send/approve', { network, rawApproveTx: signed[0] })
    if (family.transactions === 1) {
      expect(sent).toMatchObject({ status: 422, body: { code: 'APPROVAL_NOT_NEEDED', statusCode: 422 } })
      return
    }
    expect([sent.status, hashIn(sent)]).toEqual([201, keccak256(signed[0] as Hex)])
  })

  test('POST send/swap sends it and returns its hash', inTurn, async () => {
    const sent = await post('send/swap', {
      ...{ network, account: wallet.address, fromTokenAddress: usdc, toTokenAddress: family.native },
      ...{ amountFrom: '100', amountTo: quoted.receivedAmount, commissionPercentage: '0.5', rawTx: signed.at(-1) },
    })
    expect(sent.status).toBe(201)
    hash = hashIn(sent)
    expect(hash).toMatch(family.hash)
  })

  test('GET exchange/list shows it finished, with what the chain paid', inTurn, async () => {
    const row = await scenario.until(`${network} finishes the swap`, async () => {
      const { body } = await get('exchange/list', { network })
      const found = body.exchanges.find((one: Json) => one.hash === hash)
      return found?.status === 'finished' ? found : null
    })
    expect(row).toMatchObject({ network, addressFrom: wallet.address, addressTo: wallet.address, amountFrom: '100' })
    // Blocks between quote and swap may have moved a pool.
    const [paid, least] = [Number(row.amountTo), Number(quoted.receivedAmount)]
    expect(paid).toBeGreaterThanOrEqual(least * 0.999)
    expect(paid).toBeLessThan(least * 1.01)
  })

  test(
    'POST transaction/swap of the native coin returns what send/swap accepts, without an approval',
    inTurn,
    async () => {
      const back = { ...trade, fromTokenAddress: family.native, toTokenAddress: usdc, amount: '1' }
      const { body: backQuote } = await get('quote', back)
      const { status, body } = await post('transaction/swap', { ...back, account: wallet.address })
      expect([status, body.length]).toEqual([201, 1])
      const rawTx = await wallet.sign(body[0])
      const sent = await post('send/swap', {
        ...{ network, account: wallet.address, fromTokenAddress: family.native, toTokenAddress: usdc },
        ...{ amountFrom: '1', amountTo: backQuote.receivedAmount, commissionPercentage: '0.5', rawTx },
      })
      expect(sent.status).toBe(201)
      expect(hashIn(sent)).toMatch(family.hash)
      expect(hashIn(sent)).not.toBe(hash)
    },
  )
})
