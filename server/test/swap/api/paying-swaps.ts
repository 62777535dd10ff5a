import { formatUnits, type Hex, keccak256, parseTransaction, parseUnits } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect } from 'vitest'
import type { Json } from '../../../../test/support/scenario.ts'
import { hex } from '../../adapters/chains/evm/anvil.ts'
import { erc20, NATIVE, type Stage, sign, type Trade, trade } from './partner.ts'

/** An amount that needs more than one pool on every network (sandbox/src/market/pool-plans.ts). */
const LARGE_USD = 300_000

/**
 * Algebra's fee depends on time. A quote uses the highest fee of the next minute (docs/pools.md), so the chain pays the quote or
 * slightly more. Only base has pools with such a fee.
 */
const hasTimeDependentFee = ({ routes }: Json): boolean => /"name":"algebra/i.test(JSON.stringify(routes))

/** The native amount that is worth a number of US dollars. */
export async function nativeAmountFor(stage: Stage, dollars: number): Promise<string> {
  const toTokenAddress = stage.token('usdc')
  const { body } = await stage.quote({
    ...{ fromTokenAddress: NATIVE, toTokenAddress, amount: '1', slippage: '1', referrerFee: '0' },
  })
  return String(Number((dollars / Number(body.receivedAmount)).toFixed(6)))
}

/** Waits until quotes use the newest block, so that they include all earlier swaps. */
async function waitForNewestBlock(stage: Stage): Promise<void> {
  const tip = Number(await stage.rpc<Hex>('eth_blockNumber'))
  const any = { fromTokenAddress: NATIVE, toTokenAddress: stage.token('usdc'), amount: '1', slippage: '1' }
  await stage.scenario.until(
    'the newest block is quoted',
    async () => (await stage.quote({ ...any, referrerFee: '0' })).body.block >= tip,
  )
}

/** Executes a swap and compares row and balances with the quote, exactly. */
async function swap(stage: Stage, user: PrivateKeyAccount, request: Trade) {
  await waitForNewestBlock(stage)
  const { toTokenAddress: to } = request
  const taker = stage.scenario.feeAddress ?? ''
  const readBalances = () => Promise.all([stage.balance(to, user.address), stage.balance(to, taker)])
  const before = await readBalances()
  const traded = await trade(stage, user, request)
  await stage.scenario.mine(stage.network, 3)
  const row = await stage.becomes(traded.hash, 'finished')
  const after = await readBalances()
  const sent = [...(traded.rawApproveTx ? [traded.rawApproveTx] : []), traded.rawTx]
  const received = after[0] - before[0] + (to === NATIVE ? await gasOf(stage, sent) : 0n)
  const fee = after[1] - before[1]
  const { quote } = traded
  const [quoted, out] = [BigInt(quote.receivedAmountRaw), BigInt(quote.toAmountRaw)]
  if (stage.network === 'base' && hasTimeDependentFee(quote)) {
    expect(received).toBeGreaterThanOrEqual(quoted)
    // At most 0.01 %: the change of the fee within a minute.
    expect(received).toBeLessThan(quoted + quoted / 10_000n)
  } else expect([stage.network, received, fee]).toEqual([stage.network, quoted, out - quoted])
  expect(fee).toBe(((received + fee) * parseUnits(request.referrerFee, 4)) / 1_000_000n)
  // The decimal amounts agree as well.
  const decimals = await decimalsOf(stage, to)
  expect(quote.receivedAmount).toBe(formatUnits(quoted, decimals))
  expect(row).toMatchObject({
    ...{ network: stage.network, amountFrom: request.amount, amountTo: formatUnits(received, decimals) },
    ...{ addressFrom: user.address, addressTo: user.address, statusReason: null },
    commissionPercentage: request.referrerFee,
  })
  expect(row.fromTokenAddress.toLowerCase()).toBe(request.fromTokenAddress.toLowerCase())
  expect(row.toTokenAddress.toLowerCase()).toBe(to.toLowerCase())
  return { ...traded, row, received, fee }
}

const decimalsOf = async ({ network, scenario }: Stage, address: string): Promise<number> =>
  (await scenario.call('GET', `/v1/defi/currency/info?${new URLSearchParams({ network, address })}`)).body.decimals

async function gasOf({ client }: Stage, raws: readonly Hex[]): Promise<bigint> {
  const receipts = await Promise.all(raws.map((raw) => client.getTransactionReceipt({ hash: keccak256(raw) })))
  return receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
}

const allowance = ({ client, router }: Stage, token: Hex, owner: Hex): Promise<bigint> =>
  client.readContract({ address: token, abi: erc20, functionName: 'allowance', args: [owner, router] })

const sum = (parts: readonly { percentage: number }[]) => parts.reduce((total, { percentage }) => total + percentage, 0)

/** Every route leads from one token to the other, and the shares add up to 100 %. */
function expectRoutes(quote: Json, from: string, to: string): void {
  expect(sum(quote.routes)).toBe(100)
  for (const { subRoutes } of quote.routes) {
    expect(subRoutes[0].from.toLowerCase()).toBe(from.toLowerCase())
    expect(subRoutes.at(-1).to.toLowerCase()).toBe(to.toLowerCase())
    for (const { dexes } of subRoutes) expect(sum(dexes)).toBe(100)
  }
}

const assetOf = ({ network }: Stage, token: string): string => `${token.toLowerCase()}@${network}`

/** Swaps native → token → token → native. Returns the operator's fees for the partner by asset. */
export async function paysTheQuotedAmount(stage: Stage): Promise<ReadonlyMap<string, bigint>> {
  const [usdt, dai] = [stage.token('usdt'), stage.token('dai')]
  const amount = await nativeAmountFor(stage, LARGE_USD)
  const user = await stage.user({ native: String(Number(amount) + 50) })
  const withoutFee = { slippage: '0.5', referrerFee: '0' }

  const first = await swap(stage, user, { fromTokenAddress: NATIVE, toTokenAddress: usdt, amount, ...withoutFee })
  expect(first.raws).toHaveLength(1)
  expect(first.quote).toMatchObject({ fromAmount: amount, fee: '0', fromAmountRaw: String(parseUnits(amount, 18)) })
  expect(first.quote.receivedAmount).toBe(first.quote.toAmount)
  // The amount is split over parallel routes.
  expect(first.quote.routes.length).toBeGreaterThan(1)

  const paid = { amount: first.row.amountTo, slippage: '2', referrerFee: '0.3' }
  const second = await swap(stage, user, { fromTokenAddress: usdt, toTokenAddress: dai, ...paid })
  expect(second.raws).toHaveLength(2)
  expectRoutes(second.quote, usdt, dai)
  expect(second.quote.routes.some(({ subRoutes }: Json) => subRoutes.length === 2)).toBe(true)
  for (const { subRoutes } of second.quote.routes) {
    expect(subRoutes.length).toBeGreaterThan(1)
    expect(subRoutes.some(({ dexes }: Json) => dexes.length > 1)).toBe(true)
  }
  expect(second.fee).toBeGreaterThan(0n)
  expect(await stage.balance(usdt, user.address)).toBe(0n)

  const rest = { amount: second.row.amountTo, slippage: '1', referrerFee: '0.1' }
  const third = await swap(stage, user, { fromTokenAddress: dai, toTokenAddress: NATIVE, ...rest })
  expectApproval(stage, third.raws, dai, second.received)
  expect(third.fee).toBeGreaterThan(0n)
  expect(await stage.balance(dai, user.address)).toBe(0n)
  expect(await allowance(stage, dai, user.address)).toBe(0n)

  const nativeToken = stage.network === 'celo' ? stage.wrapped : NATIVE
  return new Map([
    [assetOf(stage, dai), second.fee],
    [assetOf(stage, nativeToken), third.fee],
  ])
}

/** An exact approval of our router, then the swap. */
function expectApproval(stage: Stage, raws: readonly string[], token: Hex, units: bigint): void {
  expect(raws).toHaveLength(2)
  const [approve, swapping] = raws.map((raw) => parseTransaction(raw as Hex))
  expect(approve?.to?.toLowerCase()).toBe(token.toLowerCase())
  expect(swapping?.to?.toLowerCase()).toBe(stage.router.toLowerCase())
  expect(swapping?.nonce).toBe((approve?.nonce ?? 0) + 1)
  expect(approve?.data).toBe(
    `0x095ea7b3${stage.router.slice(2).toLowerCase().padStart(64, '0')}${units.toString(16).padStart(64, '0')}`,
  )
}

/** The partner has no fee address: the operator holds its fees and owes them once the blocks are final. */
export async function feesAreOwedToPartner({ scenario }: Stage, fees: ReadonlyMap<string, bigint>): Promise<void> {
  expect(fees.size).toBe(2)
  const owed = await scenario.until('the fees are owed', async () => {
    const rows = await scenario.app.database.query<{ asset_id: string; units: string }>(
      "select b.asset_id, b.units from balances b join partners p on b.account = 'liability:partner:' || p.id where p.name = 'sandbox' and b.asset_id = any($1)",
      [[...fees.keys()]],
    )
    return rows.length === fees.size && rows
  })
  expect(new Map(owed.map(({ asset_id, units }) => [asset_id, -BigInt(units)]))).toEqual(fees)
}

/** Requests an approval without an allowance, and none with a sufficient one. */
export async function requestsOneApproval(stage: Stage): Promise<void> {
  const user = await stage.user({ usdc: '1000' })
  const usdc = stage.token('usdc')
  const request = { fromTokenAddress: usdc, toTokenAddress: NATIVE, amount: '1000', slippage: '1', referrerFee: '0' }
  const first = await stage.build({ ...request, account: user.address })
  expect(first.body).toHaveLength(2)
  expect((await stage.approve(await sign(user, first.body[0]))).status).toBe(201)
  await stage.scenario.mine(stage.network, 1)
  const { raws } = await swap(stage, user, request)
  expect(raws).toHaveLength(1)
  expect(await allowance(stage, usdc, user.address)).toBe(0n)
}

/** Simulates the signed swap on the quote's block for each second of the next minute. */
export async function quotesLowestOutputOfAMinute(stage: Stage): Promise<void> {
  const user = await stage.user()
  const usdc = stage.token('usdc')
  const request = { fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '40', slippage: '1', referrerFee: '0' }
  // Quote and build must use the same block.
  await waitForNewestBlock(stage)
  const { quote, rawTx, hash } = await trade(stage, user, request)
  expect(hasTimeDependentFee(quote)).toBe(true)
  // Wait until it is mined, so that the node does not answer from a pending block.
  await stage.becomes(hash, 'finished')
  const { to, data, value = 0n } = parseTransaction(rawTx)
  const call = { from: user.address, to, data, value: hex(value) }
  const at = hex(quote.block)
  const { timestamp } = await stage.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', at, false)
  const rich = { [user.address]: { balance: hex(value + 10n ** 18n) } }
  const seconds = Array.from({ length: 60 }, (_, index) => hex(Number(timestamp) + 1 + index))
  const outputs = await Promise.all(seconds.map((time) => stage.rpc<Hex>('eth_call', call, at, rich, { time })))
  // With six decimals the amounts are exact as numbers.
  expect(Math.min(...outputs.map(Number))).toBe(Number(quote.receivedAmountRaw))
}
