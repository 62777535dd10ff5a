import { encodeFunctionData, formatUnits, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Operator, startOperator } from './operator.ts'
import { erc20, LOCK_MS, NATIVE, type Stage, startStage, trade } from './partner.ts'

const NETWORK = 'linea'
const taker = privateKeyToAccount(generatePrivateKey())
const partner = privateKeyToAccount(generatePrivateKey()).address

let stage: Stage
let operator: Operator
beforeAll(async () => {
  stage = await startStage(NETWORK, { swaps: { feeAddresses: new Map([[NETWORK, taker.address]]) } })
  operator = await startOperator(stage)
  await stage.scenario.control('/deposits', {
    network: NETWORK,
    currency: 'native',
    address: taker.address,
    amount: '1',
  })
}, LOCK_MS)
afterAll(async () => {
  operator.stop()
  await stage.scenario.stop()
})

const swapyard = (...args: string[]) => operator.partners(...args)
const feesPaid = (
  token: string,
  hash: string,
  { name = 'sandbox', to = partner, from = taker.address, rest = ['--reason', 'fees of May'] } = {},
) => swapyard('fees-paid', name, NETWORK, token, to, hash, '--from', from, ...rest)
const balances = async (name = 'sandbox') => (await swapyard('balances', name)).lines

/** The operator pays from its own wallet. */
async function pay(token: string, units: bigint): Promise<Hex> {
  const { client } = stage
  const [nonce, gasPrice] = await Promise.all([
    client.getTransactionCount({ address: taker.address }),
    client.getGasPrice(),
  ])
  const own = { chainId: stage.chainId, nonce, gas: 100_000n, gasPrice: gasPrice * 2n, type: 'legacy' } as const
  const data = encodeFunctionData({ abi: erc20, functionName: 'transfer', args: [partner, units] })
  const call = token === NATIVE ? { to: partner, value: units } : { to: token as Hex, data }
  const hash = await client.sendRawTransaction({
    serializedTransaction: await taker.signTransaction({ ...own, ...call }),
  })
  await stage.scenario.mine(NETWORK, 1)
  return hash
}

describe('fees that the operator holds for a partner', { timeout: LOCK_MS }, () => {
  test('are shown, paid from the operator’s wallet, and booked once from the chain', async () => {
    const user = await stage.user()
    const usdc = stage.token('usdc')
    const asset = `${usdc.toLowerCase()}@${NETWORK}`
    const request = { fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1', slippage: '1', referrerFee: '1' }
    expect(await balances()).toEqual([])
    const { hash } = await trade(stage, user, request)
    await stage.becomes(hash, 'finished')
    // May differ from the quote: other swaps are mined before it.
    const units = await stage.balance(usdc, taker.address)
    expect(units).toBeGreaterThan(0n)
    const amount = formatUnits(units, 6)
    expect((await swapyard('fees')).lines).toEqual([
      { address: taker.address.toLowerCase(), currency: asset, amount, onChain: amount },
    ])
    await stage.scenario.mine(NETWORK, 12)
    const owed = { name: 'sandbox', currency: asset, amount }
    await stage.scenario.until('the fee is owed to the partner', async () => (await balances()).length > 0)
    expect(await balances()).toEqual([owed])

    const part = units / 3n
    await stage.scenario.setMiningPaused(NETWORK, true)
    const first = await pay(usdc, part)
    expect((await feesPaid(usdc, first)).error).toContain('of 10 confirmations')
    await stage.scenario.setMiningPaused(NETWORK, false)
    await stage.scenario.mine(NETWORK, 12)
    const refused = [
      [feesPaid(usdc, first, { rest: [] }), 'a reason of at least 3 letters'],
      [feesPaid(usdc, first, { name: 'sandbox-b' }), 'partner sandbox-b is owed 0'],
      [feesPaid(usdc, first, { name: 'unknown' }), 'there is no partner unknown'],
      [feesPaid(usdc, first, { to: user.address }), 'moved nothing'],
      [feesPaid(stage.token('dai'), first), 'moved nothing'],
      [feesPaid(usdc, first, { from: user.address }), 'moved nothing'],
      [feesPaid(usdc, `0x${'12'.repeat(32)}`), 'is not mined'],
      [feesPaid(usdc, '0x12'), 'is not a transaction hash'],
    ] as const
    for (const [command, sentence] of refused) {
      const answer = await command
      expect(answer.lines).toEqual([])
      expect(answer.error).toContain(sentence)
      expect(answer.error.split('\n')).toHaveLength(1)
    }
    const booked = { name: 'sandbox', currency: asset, amount: formatUnits(part, 6), hash: first }
    expect((await feesPaid(usdc, first)).lines).toMatchObject([{ ...booked, repeated: false }])
    expect((await feesPaid(usdc, first)).lines).toMatchObject([{ ...booked, repeated: true }])
    expect((await feesPaid(usdc, first, { name: 'sandbox-b' })).error).toContain('was booked for another partner')
    expect(await balances()).toEqual([{ ...owed, amount: formatUnits(units - part, 6) }])
    await stage.scenario.checkInvariants()

    const rest = await pay(usdc, units - part)
    await stage.scenario.mine(NETWORK, 12)
    expect((await feesPaid(usdc, rest)).lines).toMatchObject([{ repeated: false }])
    expect([await balances(), (await swapyard('fees')).lines]).toEqual([[], []])
    await stage.scenario.checkInvariants()
  })

  test('in native currency are booked from a plain transfer, and never above the owed amount', async () => {
    const user = await stage.user({ usdc: '3000' })
    const usdc = stage.token('usdc')
    const request = { fromTokenAddress: usdc, toTokenAddress: NATIVE, amount: '3000', slippage: '1', referrerFee: '1' }
    const before = await stage.balance(NATIVE, taker.address)
    const { hash } = await trade(stage, user, request)
    await stage.becomes(hash, 'finished')
    const units = (await stage.balance(NATIVE, taker.address)) - before
    expect(units).toBeGreaterThan(0n)
    await stage.scenario.mine(NETWORK, 12)
    await stage.scenario.until('the fee is owed to the partner', async () => (await balances()).length > 0)
    const [tooMany, exact] = [await pay(NATIVE, units + 1n), await pay(NATIVE, units)]
    await stage.scenario.mine(NETWORK, 12)
    expect((await feesPaid(NATIVE, tooMany)).error).toContain(`partner sandbox is owed ${formatUnits(units, 18)}`)
    expect((await feesPaid(NATIVE, exact)).lines).toMatchObject([{ amount: formatUnits(units, 18), repeated: false }])
    expect(await balances()).toEqual([])
  })
})
