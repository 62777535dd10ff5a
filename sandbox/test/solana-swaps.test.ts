import {
  type Address,
  appendTransactionMessageInstructions,
  type Base64EncodedWireTransaction,
  compileTransaction,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  decompileTransactionMessage,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransaction,
  signTransactionMessageWithSigners,
  type Transaction,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type Json, type Scenario, startScenario } from '../../test/support/scenario.ts'
import { raydiumCpmm } from '../src/solana/dexes/raydium-cpmm.ts'
import { type RunningSandbox, runSandbox, temporaryFolder } from './running-sandbox.ts'

/* Acts as a partner and its user on Solana: quotes, builds, signs with the ecosystem's library, sends, polls. */

const SOL = 'So11111111111111111111111111111111111111112'
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'
const base64 = { encoding: 'base64' } as const
const folder = temporaryFolder()
let sandbox: RunningSandbox
let scenario: Scenario
let rpc: ReturnType<typeof createSolanaRpc>
let user: KeyPairSigner
let operator: KeyPairSigner
/** On the deny list. */
let denied: KeyPairSigner
let [usdc, meme, ward] = ['', '', '']
let [levy, tick, bins, four, coin, span, pair, cent] = ['', '', '', '', '', '', '', '']

beforeAll(async () => {
  sandbox = await runSandbox(folder.path, 'sol', [], { SWAPYARD_SANDBOX_STILL: '1' })
  const wallet = await sandbox.post('/wallets', { network: 'sol' })
  operator = await signerOf(String(wallet.body['privateKey']))
  await sandbox.post('/deposits', { network: 'sol', currency: 'native', address: operator.address, amount: '1' })
  denied = await signerOf(String((await sandbox.post('/wallets', { network: 'sol' })).body['privateKey']))
  scenario = await startScenario({
    networks: ['sol'],
    denied: [`sol:${denied.address}`],
    chainsFile: `${folder.path}/chains.json`,
    swaps: { feeAddresses: new Map([['sol', operator.address]]) },
  })
  const [sol] = scenario.chains.networks
  usdc = sol?.tokens['usdc'] ?? ''
  const addressOf = (name: string) => sol?.defiTokens?.find(({ symbol }) => symbol === name)?.address ?? ''
  const symbols = ['LEVY', 'TICK', 'BINS', 'FOUR', 'COIN', 'SPAN', 'PAIR', 'CENT']
  ;[levy = '', tick = '', bins = '', four = '', coin = '', span = '', pair = '', cent = ''] = symbols.map(addressOf)
  meme = sol?.contracts?.['unlistedMint'] ?? ''
  ward = sol?.contracts?.['permanentDelegateMint'] ?? ''
  rpc = createSolanaRpc(sol?.rpcUrls[0] ?? '')
  await scenario.until('pools of sol', async () => (await quote({})).status === 200)
})
afterAll(async () => {
  await scenario?.stop()
  await sandbox?.stop()
  folder.remove()
})
beforeEach(async () => {
  const wallet = await scenario.wallet('sol')
  user = await signerOf(wallet.privateKey)
  expect(user.address).toBe(wallet.address)
  await deposit('native', '20')
  await deposit('usdc', '5000')
})

const signerOf = (privateKey: string) =>
  createKeyPairSignerFromPrivateKeyBytes(getBase58Encoder().encode(privateKey).slice(0, 32))

async function deposit(currency: string, amount: string, { address } = user): Promise<void> {
  await scenario.control('/deposits', { network: 'sol', currency, address, amount })
  await scenario.mine('sol', 3)
}

const trade = (changes: Record<string, string>) => ({
  ...{ network: 'sol', fromTokenAddress: SOL, toTokenAddress: usdc, amount: '1', slippage: '1', referrerFee: '0' },
  ...changes,
})
const quote = (changes: Record<string, string>): Promise<Answer> =>
  scenario.call('GET', `/v1/defi/quote?${new URLSearchParams(trade(changes))}`)
const build = (changes: Record<string, string> = {}, account = user.address): Promise<Answer> =>
  scenario.call('POST', '/v1/defi/transaction/swap', { ...trade(changes), account })

const decode = (text: string): Transaction => getTransactionDecoder().decode(Buffer.from(text, 'base64'))
async function sign(text: string, by = user): Promise<string> {
  const signed = await signTransaction([by.keyPair], decode(text))
  return getBase64EncodedWireTransaction(signed)
}
/** A transaction of the user's own. */
async function signOwn(instructions: readonly Instruction[]): Promise<Base64EncodedWireTransaction> {
  const { value } = await rpc.getLatestBlockhash().send()
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayerSigner(user, one),
    (one) => setTransactionMessageLifetimeUsingBlockhash(value, one),
    (one) => appendTransactionMessageInstructions(instructions, one),
  )
  return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
}

type Change = Readonly<{
  /** Instructions at its end. */
  more?: readonly Instruction[]
  change?: (one: Instruction) => Instruction | readonly Instruction[]
  feePayer?: KeyPairSigner
}>

/** The same transaction with changes, signed by the user and the fee payer. */
async function signChanged(
  text: string,
  { more = [], change = (one) => one, feePayer = user }: Change = {},
): Promise<string> {
  const compiled = getCompiledTransactionMessageDecoder().decode(decode(text).messageBytes)
  const { lifetimeConstraint, ...decompiled } = decompileTransactionMessage(compiled)
  const instructions: readonly Instruction[] = decompiled.instructions
  if (!('blockhash' in lifetimeConstraint)) throw new Error('the transaction has no blockhash')
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayer(feePayer.address, one),
    (one) => setTransactionMessageLifetimeUsingBlockhash(lifetimeConstraint, one),
    (one) => appendTransactionMessageInstructions([...instructions.flatMap(change), ...more], one),
  )
  const keys = [...new Set([user, feePayer])].map(({ keyPair }) => keyPair)
  return getBase64EncodedWireTransaction(await signTransaction(keys, compileTransaction(message)))
}
const instructionsOf = (text: string): readonly Instruction[] =>
  decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(decode(text).messageBytes)).instructions
/** The programs that a transaction calls. */
const programsOf = (text: string): readonly string[] => instructionsOf(text).map(({ programAddress }) => programAddress)
/** The texts of its memos. */
const memosOf = (text: string): readonly string[] =>
  instructionsOf(text).flatMap(({ programAddress, data }) =>
    programAddress === MEMO ? [Buffer.from(data ?? []).toString()] : [],
  )

async function send(changes: Record<string, unknown>, key = 'sandbox') {
  const request = {
    ...{ account: user.address, amountFrom: '1', amountTo: '160', commissionPercentage: '0', isExchange: true },
    ...{ fromTokenAddress: SOL, toTokenAddress: usdc, network: 'sol', ...changes },
  }
  const { status, body } = await scenario.call('POST', '/v1/defi/send/swap', request, { 'x-api-key': key })
  // The hash is a JSON string.
  return { status, body: typeof body === 'string' ? JSON.parse(body) : body }
}
const statusOf = async (hash: string): Promise<Json> =>
  (await scenario.call('GET', `/v1/defi/exchange/status?hash=${hash}`)).body
/** The expiry of a swap, and when the tracker looks at it again. */
const readChecks = (hash: string) =>
  scenario.app.database.query<{ expires_at: string; next_check_at: string }>(
    'select expires_at, next_check_at::text from swaps where hash = $1',
    [hash],
  )
const becomes = (hash: string, status: string): Promise<Json> =>
  scenario.until(`${hash} is ${status}`, async () => {
    const row = await statusOf(hash)
    return row.status === status && row
  })

async function tokens(owner: string, mint: string): Promise<bigint> {
  const { value } = await rpc
    .getTokenAccountsByOwner(
      owner as Address,
      { mint: mint as Address },
      { encoding: 'jsonParsed', commitment: 'confirmed' },
    )
    .send()
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n)
}
const lamports = async (owner: string): Promise<bigint> =>
  (await rpc.getBalance(owner as Address, { commitment: 'confirmed' }).send()).value

/** The reserves of the pools of two tokens, from their accounts: what a partner can check a quote with. */
async function swapAndFinish(changes: Record<string, string>, sent: Record<string, unknown>) {
  const quoted = await quote(changes)
  expect(quoted.status, JSON.stringify(quoted.body)).toBe(200)
  const built = await build(changes)
  expect(built.status, JSON.stringify(built.body)).toBe(201)
  expect(built.body).toHaveLength(1)
  const { status, body: hash } = await send({ rawTx: await sign(built.body[0]), ...sent })
  expect([status, hash]).toEqual([201, expect.any(String)])
  await scenario.mine('sol', 40)
  const row = await becomes(hash, 'finished')
  return { quoted: quoted.body, unsigned: built.body[0] as string, hash, row }
}

describe('on sol, a partner', () => {
  test('lists the network and its tokens, the most liquid first', async () => {
    const { body: networks } = await scenario.call('GET', '/v1/defi/networks')
    expect(networks.filter(({ enabled }: Json) => enabled)).toEqual([{ network: 'sol', chainId: null, enabled: true }])
    const listed = await scenario.until('liquidity', async () => {
      const { body } = await scenario.call('GET', '/v1/defi/available-currencies?network=sol')
      return body.every(({ enabled }: Json) => enabled) && body
    })
    const catalogued = ['BONK', 'JUP', 'SOL', 'USDC', 'USDT']
    const symbols = [...catalogued, 'BINS', 'CENT', 'COIN', 'FOUR', 'LEVY', 'PAIR', 'SPAN', 'TICK'].sort()
    expect(listed.map(({ symbol }: Json) => symbol).sort()).toEqual(symbols)
    expect(listed.slice(0, 2).map(({ address }: Json) => address)).toEqual([usdc, SOL])
    const { body } = await scenario.call('GET', `/v1/defi/currency/info?network=sol&address=${usdc}`)
    expect(body).toMatchObject({ address: usdc, symbol: 'USDC', decimals: 6, enabled: true })
  })

  test('swaps SOL for a token and gets what was quoted', async () => {
    const before = [await lamports(user.address), await tokens(user.address, usdc)] as const
    const { quoted, unsigned, row, hash } = await swapAndFinish({ amount: '10' }, { amountFrom: '10' })
    const [{ subRoutes }] = quoted.routes
    // Of the pools of the pair it has the least fee.
    expect(subRoutes[0].dexes.map(({ name }: Json) => name)).toContain('meteora-dlmm')
    const paid = (await tokens(user.address, usdc)) - before[1]
    expect(paid.toString()).toBe(quoted.receivedAmountRaw)
    expect(BigInt(Math.round(row.amountTo * 1e6))).toBe(paid)
    expect(row).toMatchObject({ hash, network: 'sol', addressFrom: user.address, statusReason: null })
    // SOL is worth 168 dollars in the sandbox, USDC 0.9999; the pool takes 0.04 %, and its price is within 0.02 % of the sandbox's.
    expect(Number(paid) / 1e6).toBeGreaterThan(10 * 168 * 0.996)
    expect(Number(paid) / 1e6).toBeLessThan(10 * 168.1)
    const spent = before[0] - (await lamports(user.address))
    // The wrapped SOL was closed again: the user paid the amount and the fee alone.
    expect(spent - 10_000_000_000n).toBeLessThan(10_000n)
    expect(spent).toBeGreaterThan(10_000_000_000n)
    expect(decode(unsigned).messageBytes.length + 65).toBeLessThanOrEqual(1232)
    const message = getCompiledTransactionMessageDecoder().decode(decode(unsigned).messageBytes)
    expect(message.version).toBe(0)
  })

  test('swaps a token for SOL with a referrer fee, which the operator gets in SOL', async () => {
    const before = [await lamports(user.address), await lamports(operator.address)] as const
    const changes = { fromTokenAddress: usdc, toTokenAddress: SOL, amount: '1000', referrerFee: '1' }
    const { quoted, row } = await swapAndFinish(changes, {
      ...{ fromTokenAddress: usdc, toTokenAddress: SOL, amountFrom: '1000', amountTo: '5', commissionPercentage: '1' },
    })
    const fee = BigInt(quoted.toAmountRaw) - BigInt(quoted.receivedAmountRaw)
    expect((await lamports(operator.address)) - before[1]).toBe(fee)
    expect(fee).toBe(BigInt(quoted.toAmountRaw) / 100n)
    expect(BigInt(Math.round(row.amountTo * 1e9))).toBe(BigInt(quoted.receivedAmountRaw))
    const got = (await lamports(user.address)) - before[0]
    expect(BigInt(quoted.receivedAmountRaw) - got).toBeLessThan(10_000n)
    expect(await tokens(user.address, SOL)).toBe(0n)
  })

  test('pays a fee to the operator that is too small for the new fee address of a partner', async () => {
    const { database } = scenario.app
    const { address: fresh } = await signerOf((await scenario.wallet('sol')).privateKey)
    const sides = { fromTokenAddress: usdc, toTokenAddress: SOL }
    const swap = (amount: string) =>
      swapAndFinish(
        { ...sides, amount, referrerFee: '1' },
        { ...sides, amountFrom: amount, amountTo: '0.01', commissionPercentage: '1' },
      )
    await database.query(
      "insert into fee_addresses (partner_id, network, address) select id, 'sol', $1 from partners where name = 'sandbox'",
      [fresh],
    )
    try {
      const before = await lamports(operator.address)
      // A hundredth of 5 dollars is 300 000 lamports; an account needs 890 880.
      const small = await swap('5')
      const fee = BigInt(small.quoted.toAmountRaw) - BigInt(small.quoted.receivedAmountRaw)
      expect(fee).toBeLessThan(890_880n)
      expect([(await lamports(operator.address)) - before, await lamports(fresh)]).toEqual([fee, 0n])
      const [row] = await database.query<{ owes_fee: boolean }>('select owes_fee from swaps where hash = $1', [
        small.hash,
      ])
      expect(row).toEqual({ owes_fee: true })
      const { quoted } = await swap('100')
      expect(await lamports(fresh)).toBe(BigInt(quoted.toAmountRaw) - BigInt(quoted.receivedAmountRaw))
      // It exists now.
      await swap('5')
      expect(await lamports(fresh)).toBeGreaterThan(890_880n + fee)
    } finally {
      await database.query('delete from fee_addresses where address = $1', [fresh])
    }
  })

  test('swaps a Token-2022 token whose transfer fee the quote contains', async () => {
    const changes = { fromTokenAddress: usdc, toTokenAddress: levy, amount: '250', referrerFee: '2' }
    const { quoted } = await swapAndFinish(changes, {
      ...{ fromTokenAddress: usdc, toTokenAddress: levy, amountFrom: '250', amountTo: '99', commissionPercentage: '2' },
    })
    expect((await tokens(user.address, levy)).toString()).toBe(quoted.receivedAmountRaw)
    // 2.50 dollars each, less 0.25 % of the pool, 1 % of the transfer and 2 % of the partner.
    expect(Number(quoted.receivedAmount)).toBeLessThan(100 * 0.9975 * 0.99 * 0.98)
    expect(Number(quoted.receivedAmount)).toBeGreaterThan(100 * 0.9975 * 0.99 * 0.979)
    // The mint withholds 1 % of the fee, too.
    const fee = BigInt(quoted.toAmountRaw) - BigInt(quoted.receivedAmountRaw)
    expect(await tokens(operator.address, levy)).toBe(fee - (fee + 99n) / 100n)
  })

  test.each([
    ['raydium-clmm', 'usdc', 'tick', '1500', 1_000, 6],
    ['meteora-dlmm', 'usdc', 'bins', '1000', 2_000, 6],
    ['raydium-amm-v4', 'sol', 'four', '10', 840, 9],
    ['meteora-damm-v2', 'usdc', 'span', '1000', 4_000, 6],
    ['pump-swap', 'sol', 'coin', '5', 840_000, 6],
    ['raydium-cpmm', 'sol', 'pair', '10', 420, 9],
    ['raydium-cpmm', 'usdc', 'cent', '1000', 1_250, 2],
  ] as const)('swaps in a pool of %s, %s for %s', async (dex, from, to, amount, worth, decimals) => {
    const token = { usdc, sol: SOL, tick, bins, four, coin, span, pair, cent }
    const [fromTokenAddress, toTokenAddress] = [token[from], token[to]]
    const { quoted, row } = await swapAndFinish(
      { fromTokenAddress, toTokenAddress, amount },
      { fromTokenAddress, toTokenAddress, amountFrom: amount, amountTo: String(worth) },
    )
    expect(quoted.routes[0].subRoutes.map(({ dexes }: Json) => dexes[0].name)).toEqual([dex])
    expect(quoted.remainders).toBeUndefined()
    expect((await tokens(user.address, toTokenAddress)).toString()).toBe(quoted.receivedAmountRaw)
    expect(BigInt(Math.round(row.amountTo * 10 ** decimals)).toString()).toBe(quoted.receivedAmountRaw)
    // By the sandbox's prices, less the fee and the price impact of the pool.
    expect(Number(quoted.receivedAmount)).toBeGreaterThan(worth * 0.97)
    expect(Number(quoted.receivedAmount)).toBeLessThan(worth * 1.003)
  })

  test('swaps a token for another one over two pools, and keeps what the second one was not sure to get', async () => {
    await deposit('tick', '1000')
    const before = await tokens(user.address, usdc)
    const changes = { fromTokenAddress: tick, toTokenAddress: bins, amount: '1000', slippage: '0.5' }
    const { quoted } = await swapAndFinish(changes, {
      ...{ fromTokenAddress: tick, toTokenAddress: bins, amountFrom: '1000', amountTo: '2900' },
    })
    expect(quoted.routes[0].subRoutes.map(({ from, to }: Json) => [from, to])).toEqual([
      [tick, usdc],
      [usdc, bins],
    ])
    expect((await tokens(user.address, bins)).toString()).toBe(quoted.receivedAmountRaw)
    expect(quoted.remainders).toEqual([{ address: usdc, amount: expect.any(String), amountRaw: expect.any(String) }])
    const [{ amount, amountRaw }] = quoted.remainders
    expect(((await tokens(user.address, usdc)) - before).toString()).toBe(amountRaw)
    expect(Number(amount)).toBe(Number(amountRaw) / 1e6)
    // The slippage of 1 500 dollars; the rest buys tokens of half a dollar, less 0.25 % and 0.5 % and the prices' impact.
    expect(Number(amount)).toBeGreaterThan(1_500 * 0.005 * 0.98)
    expect(Number(amount)).toBeLessThan(1_500 * 0.005)
    expect(Number(quoted.receivedAmount)).toBeGreaterThan(3_000 * 0.995 * 0.97)
  })

  test('swaps a token of PumpSwap for another one over SOL, by the lookup table of the sandbox', async () => {
    await deposit('coin', '200000')
    const pair = { fromTokenAddress: coin, toTokenAddress: four }
    const { quoted, unsigned } = await swapAndFinish(
      { ...pair, amount: '200000' },
      { ...pair, amountFrom: '200000', amountTo: '100' },
    )
    expect(quoted.routes[0].subRoutes.map(({ from, to }: Json) => [from, to])).toEqual([
      [coin, SOL],
      [SOL, four],
    ])
    const message = getCompiledTransactionMessageDecoder().decode(decode(unsigned).messageBytes)
    expect('addressTableLookups' in message && message.addressTableLookups).toMatchObject([
      { lookupTableAddress: scenario.chains.networks[0]?.lookupTables?.[0] },
    ])
    expect((await tokens(user.address, four)).toString()).toBe(quoted.receivedAmountRaw)
    // 200 dollars for tokens of two, less both fees, the margin of 1 % and the prices' impact.
    expect(Number(quoted.receivedAmount)).toBeGreaterThan(100 * 0.96)
    expect(Number(quoted.receivedAmount)).toBeLessThan(100)
  })

  test('splits a large amount over several pools, in one transaction', async () => {
    await deposit('native', '3000')
    const before = await tokens(user.address, usdc)
    const { quoted, unsigned } = await swapAndFinish({ amount: '3000' }, { amountFrom: '3000', amountTo: '500000' })
    expect(quoted.routes[0].subRoutes[0].dexes.length).toBeGreaterThan(1)
    expect(((await tokens(user.address, usdc)) - before).toString()).toBe(quoted.receivedAmountRaw)
    expect(Buffer.from(unsigned, 'base64').length).toBeLessThanOrEqual(1232)
  })

  test('has no route over three pools', async () => {
    const { status, body } = await quote({ fromTokenAddress: tick, toTokenAddress: four, amount: '10' })
    expect([status, body.code]).toEqual([422, 'NO_ROUTE'])
  })

  test('reads the name of an unlisted token, and swaps it once its pools are found', async () => {
    const { body } = await scenario.call('GET', `/v1/defi/currency/info?network=sol&address=${meme}`)
    expect(body).toMatchObject({ name: 'Unlisted test token', symbol: 'MEME', decimals: 6, address: meme })
    await scenario.until('pools of the token', async () => (await quote({ toTokenAddress: meme })).status === 200)
    const { quoted } = await swapAndFinish({ toTokenAddress: meme }, { toTokenAddress: meme, amountTo: '8000' })
    expect((await tokens(user.address, meme)).toString()).toBe(quoted.receivedAmountRaw)
  })

  test('reads why a token is not traded', async () => {
    const refused = await scenario.until('the mint', async () => {
      const { body } = await quote({ toTokenAddress: ward })
      return body.message?.includes('delegate') && body
    })
    expect(refused).toMatchObject({ statusCode: 422, code: 'NO_ROUTE' })
    expect((await build({ toTokenAddress: ward })).body.code).toBe('NO_ROUTE')
    const missing = await scenario.call('GET', `/v1/defi/currency/info?network=sol&address=${operator.address}`)
    expect(missing.body.code).toBe('TOKEN_NOT_FOUND')
  })

  test('B135: cannot quote, build or send an amount that no transaction can state', async () => {
    const amount = String(2n ** 64n / 10n ** 9n + 1n)
    for (const answer of [
      await quote({ amount }),
      await build({ amount }),
      await send({ rawTx: await sign((await build()).body[0]), amountFrom: amount }),
    ])
      expect(answer).toMatchObject({ status: 422, body: { code: 'AMOUNT_ABOVE_MAX' } })
    const most = await quote({ amount: '18446744073.709551615' })
    expect(most.status).not.toBe(500)
    expect(most.body.code).not.toBe('AMOUNT_ABOVE_MAX')
  })

  test('needs no approval', async () => {
    const { body } = await build()
    const answer = await scenario.call('POST', '/v1/defi/send/approve', {
      network: 'sol',
      rawApproveTx: await sign(body[0]),
    })
    expect(answer).toMatchObject({ status: 422, body: { code: 'APPROVAL_NOT_NEEDED' } })
  })

  test('reads what the account lacks', async () => {
    const { status, body } = await build({ amount: '1000' })
    expect([status, body.code]).toEqual([422, 'INSUFFICIENT_BALANCE'])
    expect(body.errors[0]).toMatchObject({ available: '20' })
    const ofToken = await build({ fromTokenAddress: usdc, toTokenAddress: SOL, amount: '5001' })
    expect(ofToken.body.errors[0]).toMatchObject({ required: '5001', available: '5000' })
  })

  test('cannot build a swap whose minimum would be nothing', async () => {
    // A millionth of a dollar is six lamports: one unit of USDC, and none after the slippage.
    const { status, body } = await build({ amount: '0.000000008', maxPriceImpact: '100' })
    expect([status, body.code, body.errors[0].field]).toEqual([422, 'AMOUNT_BELOW_MIN', 'amount'])
  })

  test('cannot send what was changed, signed by another key, unsigned, or built for another partner', async () => {
    const { body } = await build()
    const [unsigned] = body
    const [stranger, rawTx] = [await signerOf((await scenario.wallet('sol')).privateKey), await sign(unsigned)]
    const refused = async (changes: Record<string, unknown>, key?: string) => {
      const { status, body: answer } = await send(changes, key)
      return [status, answer.code]
    }
    const expected = [400, 'RAW_TX_INVALID']
    expect(await refused({ rawTx: unsigned })).toEqual(expected)
    const bytes = Buffer.from(rawTx, 'base64')
    bytes.writeUInt8(bytes.readUInt8(10) ^ 1, 10)
    expect(await refused({ rawTx: bytes.toString('base64') })).toEqual(expected)
    expect(await refused({ rawTx }, 'sandbox-b')).toEqual(expected)
    // The user's own key over a changed message: a lower minimum, and another recipient of the swap's output.
    // The instruction of a pool has its input and then its minimum. The transfer that wraps the input is before it.
    const input = Buffer.alloc(8)
    input.writeBigUInt64LE(1_000_000_000n)
    const message = Buffer.from(decode(unsigned).messageBytes)
    const inputAt = message.lastIndexOf(input)
    expect(inputAt).toBeGreaterThan(message.indexOf(input))
    const lowered = Buffer.from(unsigned, 'base64')
    lowered.writeBigUInt64LE(1n, lowered.length - message.length + inputAt + 8)
    expect(await refused({ rawTx: await sign(lowered.toString('base64')) })).toEqual(expected)
    expect(await refused({ rawTx: await sign(lowered.toString('base64')), isExchange: false })).toEqual(expected)
    const replaced = Buffer.from(unsigned, 'base64')
    const at = replaced.indexOf(Buffer.from(getBase58Encoder().encode(user.address)))
    replaced.set(getBase58Encoder().encode(stranger.address), at)
    expect(await refused({ rawTx: await sign(replaced.toString('base64'), stranger) })).toEqual(expected)
    const { body: list } = await scenario.call('GET', `/v1/defi/exchange/list?account=${user.address}`)
    expect(list.total).toBe(0)
  })

  test('B162: cannot send a swap with a further or foreign instruction, another memo, another fee payer or an expired blockhash', async () => {
    const stranger = await signerOf((await scenario.wallet('sol')).privateKey)
    const sides = { fromTokenAddress: usdc, toTokenAddress: levy }
    const trading = { ...sides, amount: '250' }
    const sending = (rawTx: string) => ({ ...sides, amountFrom: '250', amountTo: '99', rawTx })
    const { body } = await build(trading)
    const refusalOf = async (changes: Record<string, unknown>) => {
      const { status, body: answer } = await send(changes)
      expect([status, answer.code]).toEqual([400, 'RAW_TX_INVALID'])
      return answer.message
    }
    const before = [await lamports(user.address), await tokens(user.address, usdc)]

    const drain = getTransferSolInstruction({ source: user, destination: stranger.address, amount: 10_000_000_000n })
    const draining = sending(await signChanged(body[0], { more: [drain] }))
    for (const isExchange of [true, false])
      expect(await refusalOf({ ...draining, isExchange })).toMatch(/differ from what was built/)
    // A program that no swap calls, alone and in place of the pool's.
    const foreign: Instruction = { programAddress: stranger.address, accounts: [], data: new Uint8Array([1]) }
    const replaced = (one: Instruction) =>
      one.programAddress === raydiumCpmm.address ? { ...one, programAddress: stranger.address } : one
    const withForeign = await signChanged(body[0], { more: [foreign] })
    expect(programsOf(withForeign)).toContain(stranger.address)
    for (const isExchange of [true, false])
      expect(await refusalOf({ ...sending(withForeign), isExchange })).toMatch(/differ from what was built/)
    const withoutPool = await signChanged(body[0], { change: replaced })
    expect(programsOf(withoutPool)).toContain(stranger.address)
    expect(await refusalOf(sending(withoutPool))).toMatch(/not a swap that we built/)
    expect(await refusalOf(sending(await signChanged(body[0], { feePayer: stranger })))).toMatch(
      /not a swap that we built/,
    )
    // The memo states the reference and the rate of the fee, in millionths.
    const memoOf = (text: string) => ({ programAddress: MEMO, data: new Uint8Array(Buffer.from(text)) })
    const isMemo = ({ programAddress }: Instruction) => programAddress === MEMO
    const reference = memosOf(body[0])[0]?.slice(0, 43) ?? ''
    expect(memosOf(body[0])).toEqual([`${reference}:0`])
    const other = Buffer.alloc(32, 7).toString('base64url')
    // Its first bits name the DEXes of the route: a pause of a DEX reads them.
    const edited = `${reference.startsWith('A') ? 'B' : 'A'}${reference.slice(1)}`
    const withMemo = async (...memos: readonly string[]) => {
      const changed = await signChanged(body[0], { change: (one) => (isMemo(one) ? memos.map(memoOf) : one) })
      expect(memosOf(changed)).toEqual(memos)
      return sending(changed)
    }
    for (const isExchange of [true, false]) {
      for (const one of [other, edited])
        expect(await refusalOf({ ...(await withMemo(`${one}:0`)), isExchange })).toMatch(/differ from what was built/)
      const withRate = { ...(await withMemo(`${reference}:10000`)), commissionPercentage: '1' }
      expect(await refusalOf({ ...withRate, isExchange })).toMatch(/differ from what was built/)
    }
    for (const memos of [[`${reference}:0`, `${other}:0`], [`${other}:0`, `${reference}:0`], []])
      expect(await refusalOf(await withMemo(...memos))).toMatch(/not a swap that we built/)
    // A blockhash is valid for 150 blocks.
    await scenario.mine('sol', 160)
    const expired = sending(await sign(body[0]))
    for (const isExchange of [true, false])
      expect(await refusalOf({ ...expired, isExchange })).toMatch(/it has expired/)

    const { body: list } = await scenario.call('GET', `/v1/defi/exchange/list?account=${user.address}`)
    expect(list.total).toBe(0)
    expect([await lamports(user.address), await tokens(user.address, usdc)]).toEqual(before)
    // What is signed without a change is sent.
    const { body: current } = await build(trading)
    expect((await send(sending(await signChanged(current[0])))).status).toBe(201)
  })

  test('may send a swap again, while it is pending and when it is finished: it is one swap', async () => {
    const { body } = await build()
    const rawTx = await sign(body[0])
    const total = async (hash: string) => (await scenario.call('GET', `/v1/defi/exchange/list?hash=${hash}`)).body.total
    await scenario.setMiningPaused('sol', true)
    try {
      const { status, body: hash } = await send({ rawTx })
      expect([status, hash]).toEqual([201, expect.any(String)])
      expect((await statusOf(hash)).status).toBe('pending')
      expect(await send({ rawTx })).toEqual({ status: 201, body: hash })
      expect([(await statusOf(hash)).status, await total(hash)]).toEqual(['pending', 1])

      await scenario.mine('sol', 40)
      const { id } = await becomes(hash, 'finished')
      const after = [await lamports(user.address), await tokens(user.address, usdc)]
      expect(after[1]).toBeGreaterThan(5_000_000_000n)
      expect(await send({ rawTx })).toEqual({ status: 201, body: hash })
      await scenario.mine('sol', 40)
      expect([await statusOf(hash), await total(hash)]).toMatchObject([{ id, status: 'finished' }, 1])
      expect([await lamports(user.address), await tokens(user.address, usdc)]).toEqual(after)
    } finally {
      await scenario.setMiningPaused('sol', false)
    }
  })

  test('has the token account that was closed after the build created by the swap', async () => {
    const { address: other } = await signerOf((await scenario.wallet('sol')).privateKey)
    const { body } = await build()
    const [account] = await findAssociatedTokenPda({
      ...{ mint: usdc as Address, owner: user.address, tokenProgram: TOKEN_PROGRAM_ADDRESS },
    })
    const [target] = await findAssociatedTokenPda({
      ...{ mint: usdc as Address, owner: other, tokenProgram: TOKEN_PROGRAM_ADDRESS },
    })
    const create = getCreateAssociatedTokenIdempotentInstruction({
      ...{ payer: user, ata: target, owner: other, mint: usdc as Address },
    })
    const pay = getTransferInstruction({
      source: account,
      destination: target,
      authority: user,
      amount: 5_000_000_000n,
    })
    const close = getCloseAccountInstruction({ account, destination: user.address, owner: user })
    const closed = await rpc.sendTransaction(await signOwn([create, pay, close]), base64).send()
    await scenario.mine('sol', 3)
    const {
      value: [state],
    } = await rpc.getSignatureStatuses([closed]).send()
    expect(state?.err).toBeNull()
    expect((await rpc.getAccountInfo(account, { encoding: 'base64', commitment: 'confirmed' }).send()).value).toBeNull()

    const { body: hash } = await send({ rawTx: await sign(body[0]) })
    await scenario.mine('sol', 40)
    const row = await becomes(hash, 'finished')
    const paid = await tokens(user.address, usdc)
    expect(paid).toBeGreaterThan(0n)
    expect(BigInt(Math.round(row.amountTo * 1e6))).toBe(paid)
  })

  test('cannot build for an account without SOL, and cannot sell a token for which it has no account', async () => {
    // Its key was never used.
    const stranger = await signerOf((await scenario.wallet('sol')).privateKey)
    const ofNothing = await build({}, stranger.address)
    expect([ofNothing.status, ofNothing.body.code]).toEqual([422, 'INSUFFICIENT_BALANCE'])
    expect(ofNothing.body.errors[0]).toMatchObject({ field: 'amount', available: '0' })
    const selling = { fromTokenAddress: tick, toTokenAddress: usdc, amount: '1' }
    const withoutAccount = await build(selling)
    expect([withoutAccount.status, withoutAccount.body.code]).toEqual([422, 'INSUFFICIENT_BALANCE'])
    expect(withoutAccount.body.errors[0]).toMatchObject({ field: 'amount', required: '1', available: '0' })
  })

  test('may broadcast a swap itself: its fee is found, and its hash can be reported', async () => {
    const { body } = await build({ referrerFee: '1' })
    const rawTx = await sign(body[0])
    const hash = await rpc.sendTransaction(rawTx as Base64EncodedWireTransaction, base64).send()
    await scenario.mine('sol', 40)
    const fee = await tokens(operator.address, usdc)
    expect(fee).toBeGreaterThan(0n)
    const readOwed = async () => {
      const [row] = await scenario.app.database.query<{ units: string }>(
        "select coalesce(-sum(units), 0) as units from balances where account like 'liability:partner:%' and asset_id = $1",
        [`${usdc}@sol`],
      )
      return BigInt(row?.units ?? 0)
    }
    await scenario.until('the fee is owed', async () => (await readOwed()) === fee)
    expect((await statusOf(hash)).statusCode).toBe(404)
    const sent = await send({ hash, commissionPercentage: '1' })
    expect([sent.status, sent.body]).toEqual([201, hash])
    expect(await becomes(hash, 'finished')).toMatchObject({ hash, addressFrom: user.address })
    // Reported and found is owed once.
    expect(await readOwed()).toBe(fee)
    // A hash of another network's form, and one that no node knows.
    expect((await send({ hash: `0x${'ab'.repeat(32)}` })).body.code).toBe('VALIDATION_ERROR')
    const unknown = (await rpc.getSignaturesForAddress(operator.address, { limit: 1 }).send())[0]?.signature ?? ''
    expect((await send({ hash: `${unknown.slice(0, -1)}${unknown.endsWith('1') ? '2' : '1'}` })).status).toBe(503)
  })

  test('may send any other transaction without a record', async () => {
    const transfer = getTransferSolInstruction({ source: user, destination: operator.address, amount: 1_000_000n })
    const rawTx = await signOwn([transfer])
    const before = await lamports(operator.address)
    expect((await send({ rawTx })).body.code).toBe('RAW_TX_INVALID')
    expect((await send({ rawTx, isExchange: false })).status).toBe(201)
    await scenario.mine('sol', 3)
    expect((await lamports(operator.address)) - before).toBe(1_000_000n)
  })

  test('cannot use a denied address as account or as target', async () => {
    await deposit('native', '20', denied)
    const refusal = { status: 451, body: { code: 'RESTRICTED' } }
    expect(await build({}, denied.address)).toMatchObject(refusal)
    const before = [await lamports(user.address), await lamports(denied.address)]
    const transfer = getTransferSolInstruction({ source: user, destination: denied.address, amount: 1_000_000n })
    expect(await send({ rawTx: await signOwn([transfer]), isExchange: false })).toMatchObject(refusal)
    await scenario.mine('sol', 3)
    expect([await lamports(user.address), await lamports(denied.address)]).toEqual(before)
  })

  test('sees a swap fail as reverted if the pools pay less than its minimum', async () => {
    // Another user's larger trade in the same pools comes first.
    const changes = { slippage: '0.01', amount: '10' }
    const { body: small } = await build(changes)
    const rawTx = await sign(small[0])
    const victim = user
    user = await signerOf((await scenario.wallet('sol')).privateKey)
    await deposit('native', '210')
    const { body: large } = await build({ amount: '200' })
    const { body: first } = await send({ rawTx: await sign(large[0]), amountFrom: '200' })
    await scenario.mine('sol', 40)
    await becomes(first, 'finished')
    user = victim
    const before = await lamports(user.address)
    const { body: hash } = await send({ rawTx, amountFrom: '10' })
    await scenario.mine('sol', 40)
    expect(await becomes(hash, 'failed')).toMatchObject({ statusReason: 'reverted' })
    // The fee was paid, and nothing else.
    expect(before - (await lamports(user.address))).toBeLessThan(10_000n)
    // A build at the new state needs no older quote.
    expect((await build(changes)).status).toBe(201)
  })

  test('sees a swap fail as reverted if its limit of compute units is too small', async () => {
    const { body } = await build()
    // SetComputeUnitLimit is 2 and the limit as a u32.
    const limit = Buffer.from([2, 0, 0, 0, 0])
    limit.writeUInt32LE(1_000, 1)
    const isLimit = ({ programAddress, data }: Instruction) => programAddress === COMPUTE_BUDGET && data?.[0] === 2
    const rawTx = await signChanged(body[0], {
      change: (one) => (isLimit(one) ? { ...one, data: new Uint8Array(limit) } : one),
    })
    expect(
      instructionsOf(rawTx)
        .filter(isLimit)
        .map(({ data }) => Buffer.from(data ?? [])),
    ).toEqual([limit])
    const before = [await lamports(user.address), await tokens(user.address, usdc)] as const
    const { status, body: hash } = await send({ rawTx })
    expect([status, hash]).toEqual([201, expect.any(String)])
    await scenario.mine('sol', 40)
    expect(await becomes(hash, 'failed')).toMatchObject({ statusReason: 'reverted' })
    expect(await tokens(user.address, usdc)).toBe(before[1])
    // The fee of one signature and of the requested units was paid, and nothing else.
    const paid = before[0] - (await lamports(user.address))
    expect(paid).toBeGreaterThanOrEqual(5_000n)
    expect(paid).toBeLessThan(10_000n)
  })

  test('sees a swap fail as expired, once the finalized height proves it', async () => {
    await scenario.setMiningPaused('sol', true)
    try {
      const { body } = await build()
      const rawTx = await sign(body[0])
      const { body: hash } = await send({ rawTx })
      expect(hash).toEqual(expect.any(String))
      await scenario.stopWorkers()
      // The only block that has it is replaced, and no one sends it again before its recent block is too old.
      await scenario.mine('sol', 1)
      await scenario.reorg('sol', 1, true)
      await scenario.mine('sol', 160)
      const height = await rpc.getBlockHeight({ commitment: 'finalized' }).send()
      const [row] = await readChecks(hash)
      expect(await rpc.getBlockHeight({ commitment: 'processed' }).send()).toBeGreaterThan(Number(row?.expires_at) + 1)
      expect(height).toBeLessThan(Number(row?.expires_at))
      await scenario.startWorkers()
      // Expired by the processed height, but not by the finalized one: the tracker has looked, twice, and the swap stays as it is.
      let checkedAt = row?.next_check_at
      for (const look of ['first', 'second'])
        checkedAt = await scenario.until(`the ${look} look at the swap`, async () => {
          const [now] = await readChecks(hash)
          return now?.next_check_at !== checkedAt && now?.next_check_at
        })
      expect((await statusOf(hash)).status).toBe('pending')
      await scenario.mine('sol', 100)
      expect(await rpc.getBlockHeight({ commitment: 'finalized' }).send()).toBe(height + 100n)
      expect(await becomes(hash, 'failed')).toMatchObject({ statusReason: 'expired' })
      expect((await send({ rawTx })).body).toMatchObject({ statusCode: 400, code: 'RAW_TX_INVALID' })
      expect(await tokens(user.address, usdc)).toBe(5_000_000_000n)
    } finally {
      await scenario.startWorkers()
      await scenario.setMiningPaused('sol', false)
    }
  })

  test('waits for the proof of an expiry also while nodes refuse what was sent long after its build', async () => {
    await scenario.setMiningPaused('sol', true)
    try {
      const { body } = await build()
      const rawTx = await sign(body[0])
      const readHeight = () => rpc.getBlockHeight({ commitment: 'processed' }).send()
      const builtAt = await readHeight()
      await scenario.mine('sol', 50)
      const { status, body: hash } = await send({ rawTx })
      expect([status, hash]).toEqual([201, expect.any(String)])
      // The only block that has it is replaced.
      await scenario.stopWorkers()
      await scenario.mine('sol', 1)
      await scenario.reorg('sol', 1, true)
      await scenario.mine('sol', 120)
      const [row] = await readChecks(hash)
      // The recent block is too old by now; the row counts 150 blocks from the send.
      expect(await readHeight()).toBeGreaterThan(builtAt + 151n)
      expect(await readHeight()).toBeLessThan(Number(row?.expires_at))
      await scenario.startWorkers()
      let checkedAt = row?.next_check_at
      for (const look of ['first', 'second', 'third'])
        checkedAt = await scenario.until(`the ${look} look at the swap`, async () => {
          const [now] = await readChecks(hash)
          return now?.next_check_at !== checkedAt && now?.next_check_at
        })
      expect(await statusOf(hash)).toMatchObject({ status: 'pending', statusReason: null })
      await scenario.mine('sol', 120)
      expect(await becomes(hash, 'failed')).toMatchObject({ statusReason: 'expired' })
      expect(await tokens(user.address, usdc)).toBe(5_000_000_000n)
    } finally {
      await scenario.startWorkers()
      await scenario.setMiningPaused('sol', false)
    }
  })

  test('has a swap sent again that a fork dropped, until it is final', async () => {
    const { body } = await build()
    await scenario.setMiningPaused('sol', true)
    try {
      const { body: hash } = await send({ rawTx: await sign(body[0]) })
      await scenario.mine('sol', 3)
      await becomes(hash, 'confirming')
      await scenario.reorg('sol', 3, true)
      await scenario.until('sent again', async () => {
        await scenario.mine('sol', 1)
        return (await tokens(user.address, usdc)) > 5_000_000_000n
      })
      await scenario.mine('sol', 40)
      expect(await becomes(hash, 'finished')).toMatchObject({ statusReason: null })
    } finally {
      await scenario.setMiningPaused('sol', false)
    }
  })
})
