import { zeroAddress } from 'viem'
import { nativeAddress } from '../chains/evm/native-coin.ts'
import { isPoolStep, stepKinds } from './encode-route.ts'
import { poolIdOf } from './uniswap-v4.ts'

/** The ids of the pools and the tokens that a route names, in lower case. */
export type RouteNames = Readonly<{ pools: readonly string[]; tokens: readonly string[] }>

const bits = (word: bigint, from: bigint, count: bigint): bigint => (word >> from) & ((1n << count) - 1n)
const addressOf = (word: bigint): string => `0x${bits(word, 0n, 160n).toString(16).padStart(40, '0')}`

/** Reads the words of `encodeRoute`. Words that make no sense name nothing: the executor rejects them. */
export function decodeRoute([count = 0n, ...words]: readonly bigint[]): RouteNames {
  const length = Number(bits(count, 0n, 8n))
  const tokens = words.slice(0, length).map(addressOf)
  const pools: string[] = []
  const steps = words.slice(length)
  for (let place = 0; place < steps.length; place++) {
    const word = steps[place] ?? 0n
    const kind = Number(bits(word, 248n, 8n))
    if (!isPoolStep(kind)) continue
    if (kind === stepKinds.balancer) {
      place++
      pools.push(`0x${(steps[place] ?? 0n).toString(16).padStart(64, '0')}`)
    } else if (kind === stepKinds.v4) {
      const pair = [bits(word, 240n, 8n), bits(word, 232n, 8n)].map((index) => tokens[Number(index)] ?? zeroAddress)
      const [low = zeroAddress, high = zeroAddress] = pair.sort()
      const extra = bits(word, 160n, 40n)
      pools.push(poolIdOf(low, high, Number(extra >> 16n), Number(bits(extra, 0n, 16n))))
    } else pools.push(addressOf(word))
  }
  return { pools, tokens: tokens.map((token) => (token === zeroAddress ? nativeAddress : token)) }
}
