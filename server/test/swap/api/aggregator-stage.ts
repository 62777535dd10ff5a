import { join } from 'node:path'
import { externalExecutor } from '@swapyard/contracts'
import { encodeDeployData, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { expect } from 'vitest'
import { type Compiled, compile } from '../../adapters/chains/evm/compile.ts'
import { type Call, type FakeAggregators, startFakeAggregators } from './fake-aggregators.ts'
import { NATIVE, type Stage, startStage, type Trade } from './partner.ts'

type Order = Readonly<{ tokenIn: string; tokenOut: string; amountIn: string; taker: string }>
/** What the aggregator's call pays. `takes` replaces the input that it takes. */
export type CallOptions = Readonly<{ pays: bigint; changes?: Partial<Call>; takes?: bigint }>

/** Fake aggregators on eth whose contract pays from its own stock. */
export type AggregatorStage = Readonly<{
  stage: Stage
  aggregators: FakeAggregators
  /** Address of contracts/test/pools/ThirdPartyRouter.sol. */
  contract: Hex
  /** Builds a call as an aggregator does: native input is sent as value. */
  calls(options: CallOptions): (order: Order) => Call
  /** Output of our own route now, before the fee. */
  ownOut(request: Trade): Promise<bigint>
  stop(): Promise<void>
}>

/** Far above the time of a reply on a busy machine. Cases with a silent aggregator wait this long. */
const BUDGET_MS = 3_000

/** `halfLifeMs`: half-life of the shortfall penalty. */
export async function startAggregatorStage(halfLifeMs: number): Promise<AggregatorStage> {
  const aggregators = await startFakeAggregators()
  const { url, key } = aggregators
  // The contract's address is known after its deployment.
  const contracts = new Map<string, readonly string[]>([['eth', []]])
  const three = [
    { id: '0x', key, url, contracts },
    { id: 'openocean', key: null, url, contracts },
    { id: 'kyberswap', key: 'swapyard', url, contracts },
  ] as const
  const stage = await startStage('eth', { aggregators: { asked: three, budgetMs: BUDGET_MS, halfLifeMs } })
  const file = join(import.meta.dirname, '../../../../contracts/test/pools/ThirdPartyRouter.sol')
  const compiled = (await compile(file))['ThirdPartyRouter'] as Compiled
  const contract = await deploy(stage, compiled)
  contracts.set('eth', [contract])
  for (const [currency, amount] of Object.entries({ native: '1000', usdc: '1000000', usdt: '1000000' }))
    await stage.scenario.control('/deposits', { network: 'eth', currency, address: contract, amount })
  await stage.scenario.mine('eth', 1)
  return {
    stage,
    aggregators,
    contract,
    calls: (options) => callOf(compiled, contract, options),
    async ownOut(request) {
      aggregators.behave({})
      const { status, body } = await stage.quote(request)
      expect(status).toBe(200)
      return BigInt(body.toAmountRaw)
    },
    stop: async () => {
      await stage.scenario.stop()
      await aggregators.stop()
    },
  }
}

async function deploy(stage: Stage, compiled: Compiled): Promise<Hex> {
  const user = await stage.user()
  const { maxFeePerGas } = await stage.client.estimateFeesPerGas()
  const signed = await user.signTransaction({
    ...{ chainId: stage.chainId, type: 'eip1559', nonce: 0, gas: 3_000_000n },
    ...{ maxFeePerGas: 2n * maxFeePerGas, maxPriorityFeePerGas: 1n },
    data: encodeDeployData({ ...compiled, args: [] }),
  })
  const hash = await stage.rpc<Hex>('eth_sendRawTransaction', signed)
  await stage.scenario.mine('eth', 1)
  const { contractAddress } = await stage.client.waitForTransactionReceipt({ hash })
  return (contractAddress ?? '').toLowerCase() as Hex
}

const callOf =
  (compiled: Compiled, target: Hex, { pays, changes = {}, takes }: CallOptions) =>
  ({ tokenIn, tokenOut, amountIn, taker }: Order): Call => {
    expect(taker.toLowerCase()).toBe(externalExecutor.address.toLowerCase())
    const toContractToken = (token: string) => (token === NATIVE.toLowerCase() ? zeroAddress : token)
    const args = [toContractToken(tokenIn), takes ?? BigInt(amountIn), toContractToken(tokenOut), pays]
    const calldata = encodeFunctionData({ abi: compiled.abi, functionName: 'trade', args })
    const value = toContractToken(tokenIn) === zeroAddress ? BigInt(amountIn) : 0n
    return { target, calldata, value, ...changes }
  }
