import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import type { Dex } from '../../swap/domain/dex.ts'
import { toWord } from './abi-words.ts'
import type { ContractCall } from './block-reader.ts'
import { curveDex } from './curve.ts'
import { poolIdentity } from './pool-identity.ts'

const factory = `0x${'f'.repeat(40)}`
const [plain, oracle, meta] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string]
const list = (...words: number[]): Hex => `0x${[32, words.length, ...words].map(toWord).join('')}`
const GET_COINS = '0x9ac90d3d'
const IS_META = '0xe4d332a9'
const ASSET_TYPES = '0xa80f2464'

/** Factory data of a plain pool, of one with an oracle, and of a metapool; every other call fails. */
function answer({ to, calldata }: ContractCall): Hex | null {
  if (to !== factory) return null
  const pool = `0x${calldata.slice(-40)}`
  if (calldata.startsWith(GET_COINS)) return list(1, 2)
  if (calldata.startsWith(IS_META)) return `0x${toWord(pool === meta ? 1 : 0)}`
  return calldata.startsWith(ASSET_TYPES) ? list(pool === oracle ? 1 : 0, 0) : null
}

async function calledContracts(dex: Dex): Promise<ReadonlySet<string>> {
  const called = new Set<string>()
  const reader = {
    read: async (_at: string, calls: readonly ContractCall[]) => {
      for (const { to } of calls) called.add(to)
      return calls.map(answer)
    },
  }
  const readContext = { reader, wrapped: '', nativeIsToken: false } as unknown as Parameters<
    typeof curveDex.readBase
  >[0]
  const identities = [plain, oracle, meta].map((address) => poolIdentity(address, dex, []))
  expect(await curveDex.readBase(readContext, '0x', identities)).toEqual([null, null, null])
  return called
}

test('calls a pool with contracts of its creator only if the network file names it', async () => {
  const dex: Dex = { name: 'ng', kind: 'curve-stable', factory }
  expect(await calledContracts(dex)).toEqual(new Set([factory, plain]))
  expect(await calledContracts({ ...dex, rated: [oracle] })).toEqual(new Set([factory, plain, oracle]))
})
