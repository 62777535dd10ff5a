import { join } from 'node:path'
import { externalExecutor } from '@swapyard/contracts'
import { encodeDeployData, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { expect } from 'vitest'
import { type Compiled, compile } from '../../adapters/chains/evm/compile.ts'
import { type Call, type FakeAggregators, startFakeAggregators } from './fake-aggregators.ts'
import { NATIVE, type Stage, startStage, type Trade } from './partner.ts'

type Order = Readonly<{ tokenIn: string; tokenOut: string; amountIn: string; taker: string }>
/** What its call pays; `takes`: instead of what it is given. */
export type Paying = Readonly<{ pays: bigint; changes?: Partial<Call>; takes?: bigint }>

/** Outside routers on eth that pay out of their own stock what their calls say. */
export type AggregatorStage = Readonly<{
  stage: Stage
  routers: FakeAggregators
  /** contracts/test/pools/ThirdPartyRouter.sol */
  outside: Hex
  /** As an aggregator builds it: the coin comes with the call. */
  calls(paying: Paying): (order: Order) => Call
  /** What our own route pays now, before the fee. */
  ownOut(asked: Trade): Promise<bigint>
  stop(): Promise<void>
}>

const BUDGET_MS = 1_000

/** `halfLifeMs`: in which what one did not keep counts half. */
export async function startAggregatorStage(halfLifeMs: number): Promise<AggregatorStage> {
  const routers = await startFakeAggregators()
  const { url, key } = routers
  // What may be called is known once it is deployed.
  const contracts = new Map<string, readonly string[]>([['eth', []]])
  const three = [
    { id: '0x', key, url, contracts },
    { id: 'openocean', key: null, url, contracts },
    { id: 'kyberswap', key: 'swapyard', url, contracts },
  ] as const
  const stage = await startStage('eth', { aggregators: { asked: three, budgetMs: BUDGET_MS, halfLifeMs } })
  const file = join(import.meta.dirname, '../../../../contracts/test/pools/ThirdPartyRouter.sol')
  const contract = (await compile(file))['ThirdPartyRouter'] as Compiled
  const outside = await deploy(stage, contract)
  contracts.set('eth', [outside])
  for (const [currency, amount] of Object.entries({ native: '1000', usdc: '1000000', usdt: '1000000' }))
    await stage.scenario.control('/deposits', { network: 'eth', currency, address: outside, amount })
  await stage.scenario.mine('eth', 1)
  return {
    stage,
    routers,
    outside,
    calls: (paying) => callOf(contract, outside, paying),
    async ownOut(asked) {
      routers.behave({})
      const { status, body } = await stage.quote(asked)
      expect(status).toBe(200)
      return BigInt(body.toAmountRaw)
    },
    stop: async () => {
      await stage.scenario.stop()
      await routers.stop()
    },
  }
}

async function deploy(stage: Stage, contract: Compiled): Promise<Hex> {
  const user = await stage.user()
  const { maxFeePerGas } = await stage.client.estimateFeesPerGas()
  const signed = await user.signTransaction({
    ...{ chainId: stage.chainId, type: 'eip1559', nonce: 0, gas: 3_000_000n },
    ...{ maxFeePerGas: 2n * maxFeePerGas, maxPriorityFeePerGas: 1n },
    data: encodeDeployData({ ...contract, args: [] }),
  })
  const hash = await stage.rpc<Hex>('eth_sendRawTransaction', signed)
  await stage.scenario.mine('eth', 1)
  const { contractAddress } = await stage.client.waitForTransactionReceipt({ hash })
  return (contractAddress ?? '').toLowerCase() as Hex
}

const callOf =
  (contract: Compiled, outside: Hex, { pays, changes = {}, takes }: Paying) =>
  ({ tokenIn, tokenOut, amountIn, taker }: Order): Call => {
    expect(taker.toLowerCase()).toBe(externalExecutor.address.toLowerCase())
    const coin = (token: string) => (token === NATIVE.toLowerCase() ? zeroAddress : token)
    const args = [coin(tokenIn), takes ?? BigInt(amountIn), coin(tokenOut), pays]
    const calldata = encodeFunctionData({ abi: contract.abi, functionName: 'trade', args })
    const value = coin(tokenIn) === zeroAddress ? BigInt(amountIn) : 0n
    return { target: outside, calldata, value, ...changes }
  }
