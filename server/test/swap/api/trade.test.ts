import { formatUnits, type Hex, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { erc20, LOCK_MS, NATIVE, type Stage, sign, startStage, trade } from './partner.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
}, LOCK_MS)
afterAll(() => stage.world.stop())

describe('a partner swaps', () => {
  test('the coin for a token, and the chain pays what was quoted', async () => {
    const user = await stage.user()
    const usdc = stage.token('usdc')
    const asked = { fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1.5', slippage: '0.5', referrerFee: '0' }
    const { quote, raws, hash } = await trade(stage, user, asked)
    expect(raws).toHaveLength(1)
    expect(quote).toMatchObject({ fromAmount: '1.5', fee: '0', fromAmountRaw: '1500000000000000000' })
    expect(quote.receivedAmount).toBe(quote.toAmount)
    const row = await stage.becomes(hash, 'finished')
    const received = await stage.balance(usdc, user.address)
    expect(received).toBe(BigInt(quote.receivedAmountRaw))
    expect(row).toMatchObject({
      network: 'eth',
      fromTokenAddress: NATIVE,
      amountFrom: '1.5',
      amountTo: formatUnits(received, 6),
      addressFrom: user.address,
      addressTo: user.address,
      commissionPercentage: '0',
      statusReason: null,
    })
    expect(row.toTokenAddress.toLowerCase()).toBe(usdc.toLowerCase())
  })

  test('a token for the coin, with an exact approval of our router alone', async () => {
    const user = await stage.user({ usdc: '5000' })
    const usdc = stage.token('usdc')
    const asked = { fromTokenAddress: usdc, toTokenAddress: NATIVE, amount: '5000', slippage: '1', referrerFee: '0' }
    const { quote, raws, hash } = await trade(stage, user, asked)
    expect(raws).toHaveLength(2)
    const [approve, swap] = raws.map((raw) => parseTransaction(raw as Hex))
    expect(approve?.to?.toLowerCase()).toBe(usdc.toLowerCase())
    expect(swap?.to?.toLowerCase()).toBe(stage.router.toLowerCase())
    expect(swap?.nonce).toBe((approve?.nonce ?? 0) + 1)
    expect(approve?.data).toBe(
      `0x095ea7b3${stage.router.slice(2).toLowerCase().padStart(64, '0')}${5_000_000_000n.toString(16).padStart(64, '0')}`,
    )
    const row = await stage.becomes(hash, 'finished')
    expect(row.amountTo).toBe(quote.receivedAmount)
    expect(await stage.balance(usdc, user.address)).toBe(0n)
    // What the user has now is what it had, the coins of the swap, and less the gas of two transactions.
    const [first, second] = await Promise.all(
      [0, 1].map(async (n) => {
        const receipt = await stage.client.getTransactionReceipt({
          hash: n === 0 ? await sentApproval(user) : (hash as Hex),
        })
        return receipt.gasUsed * receipt.effectiveGasPrice
      }),
    )
    const left = await stage.balance(NATIVE, user.address)
    expect(left + (first ?? 0n) + (second ?? 0n) - 50n * 10n ** 18n).toBe(BigInt(quote.receivedAmountRaw))
    const allowed = await stage.client.readContract({
      address: usdc,
      abi: erc20,
      functionName: 'allowance',
      args: [user.address, stage.router],
    })
    expect(allowed).toBe(0n)
  })

  test('one token for another by two hops, split, with a fee for the referrer', async () => {
    const user = await stage.user({ link: '20000' })
    const [link, dai] = [stage.token('link'), stage.token('dai')]
    const asked = { fromTokenAddress: link, toTokenAddress: dai, amount: '20000', slippage: '2', referrerFee: '0.3' }
    const { quote, hash } = await trade(stage, user, asked)
    for (const route of quote.routes) {
      expect(route.subRoutes.length).toBeGreaterThan(1)
      expect(route.subRoutes[0].from.toLowerCase()).toBe(link.toLowerCase())
      expect(route.subRoutes.at(-1).to.toLowerCase()).toBe(dai.toLowerCase())
      for (const { dexes } of route.subRoutes) expect(sum(dexes)).toBeCloseTo(100, 9)
    }
    expect(
      quote.routes.flatMap((route: { subRoutes: { dexes: unknown[] }[] }) =>
        route.subRoutes.flatMap(({ dexes }) => dexes),
      ).length,
    ).toBeGreaterThan(2)
    expect(sum(quote.routes)).toBeCloseTo(100, 9)
    const row = await stage.becomes(hash, 'finished')
    const [received, out] = [BigInt(quote.receivedAmountRaw), BigInt(quote.toAmountRaw)]
    expect(out - received).toBe((out * 3_000n) / 1_000_000n)
    expect(await stage.balance(dai, user.address)).toBe(received)
    expect(await stage.balance(dai, stage.world.feeAddress ?? '')).toBe(out - received)
    expect(row).toMatchObject({ commissionPercentage: '0.3', amountTo: formatUnits(received, 18) })
    // Nobody set an address for the partner: the operator holds it, and says so once the block is final.
    const owed = await stage.world.until('the fee is owed', async () => {
      const rows = await stage.world.house.database.query<{ account: string; asset_id: string; units: string }>(
        "select b.account, b.asset_id, b.units from balances b join partners p on b.account = 'liability:partner:' || p.id where p.name = 'sandbox'",
      )
      return rows.length > 0 && rows
    })
    expect(owed).toMatchObject([{ asset_id: `${dai.toLowerCase()}@eth`, units: String(received - out) }])
    await stage.world.invariants()
  })

  test('paying the fee to the partner where it has an address', async () => {
    const user = await stage.user()
    const usdt = stage.token('usdt')
    const mine = (await stage.user()).address
    const { database } = stage.world.house
    await database.query(
      "insert into fee_addresses (partner_id, network, address) select id, 'eth', $1 from partners where name = 'sandbox'",
      [mine],
    )
    const asked = { fromTokenAddress: NATIVE, toTokenAddress: usdt, amount: '2', slippage: '1', referrerFee: '5' }
    const { quote, hash } = await trade(stage, user, asked)
    await stage.becomes(hash, 'finished')
    expect(await stage.balance(usdt, mine)).toBe(BigInt(quote.toAmountRaw) - BigInt(quote.receivedAmountRaw))
    await database.query("delete from fee_addresses where network = 'eth'")
  })

  test('again without an approval where the allowance is there already', async () => {
    const user = await stage.user({ dai: '1000' })
    const dai = stage.token('dai')
    const asked = { fromTokenAddress: dai, toTokenAddress: NATIVE, amount: '1000', slippage: '1', referrerFee: '0' }
    const first = await stage.build({ ...asked, account: user.address })
    expect(first.body).toHaveLength(2)
    const rawApproveTx = await sign(user, first.body[0])
    const approved = await stage.world.call('POST', '/v1/defi/send/approve', { network: 'eth', rawApproveTx })
    expect(approved.status).toBe(201)
    await stage.world.mine('eth', 1)
    expect((await stage.build({ ...asked, account: user.address })).body).toHaveLength(1)
  })

  test('the coin for its wrapped token and back, one to one but for the fee', async () => {
    const user = await stage.user()
    const wrapped = stage.wrapped
    const there = { fromTokenAddress: NATIVE, toTokenAddress: wrapped, amount: '2', slippage: '0.01', referrerFee: '1' }
    const { quote, raws, hash } = await trade(stage, user, there)
    expect(raws).toHaveLength(1)
    expect(quote).toMatchObject({ toAmount: '2', receivedAmount: '1.98', fee: '0.02', priceImpact: '0' })
    expect(quote.routes).toHaveLength(1)
    expect(quote.routes[0].subRoutes[0].dexes).toMatchObject([{ percentage: 100, fee: 0 }])
    expect(await stage.becomes(hash, 'finished')).toMatchObject({ amountFrom: '2', amountTo: '1.98' })
    expect(await stage.balance(wrapped, user.address)).toBe(1_980_000_000_000_000_000n)

    const back = {
      fromTokenAddress: wrapped,
      toTokenAddress: NATIVE,
      amount: '1.98',
      slippage: '0.01',
      referrerFee: '0',
    }
    const returned = await trade(stage, user, back)
    expect(returned.raws).toHaveLength(2)
    expect(returned.quote).toMatchObject({ toAmount: '1.98', receivedAmount: '1.98', fee: '0' })
    expect(await stage.becomes(returned.hash, 'finished')).toMatchObject({ amountTo: '1.98' })
    expect(await stage.balance(wrapped, user.address)).toBe(0n)
  })
})

const sum = (parts: readonly { percentage: number }[]) => parts.reduce((total, { percentage }) => total + percentage, 0)

/** Hash of the first transaction of an account. */
async function sentApproval({ address }: { address: Hex }): Promise<Hex> {
  const latest = await stage.client.getBlockNumber()
  for (let number = latest; number > latest - 60n; number--) {
    const { transactions } = await stage.client.getBlock({ blockNumber: number, includeTransactions: true })
    const found = transactions.find(({ from, nonce }) => from === address.toLowerCase() && nonce === 0)
    if (found) return found.hash
  }
  throw new Error('no approval')
}
