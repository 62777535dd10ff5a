import { type Hex, hexToBigInt, keccak256, numberToHex, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import type { EvmNode } from '../chains/evm/node.ts'
import { encodeApprove } from './decode-action.ts'
import { findTransaction } from './find-transaction.ts'
import { readSigned } from './read-signed.ts'

/* A node that invents transactions cannot be arranged on a chain: these tests use scripted nodes. */

const CHAIN_ID = 31_337
const user = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const [token, spender] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`] as const
const call = { to: token, data: encodeApprove(spender, 7n), gas: 90_000n, nonce: 300, value: 0n } as const
const accessList = [{ address: spender, storageKeys: [`0x${'01'.repeat(32)}`] }] as const

type Fields = Readonly<Record<string, unknown>>
const hex = (value: bigint | number | undefined) => numberToHex(value ?? 0)

/** A signed transaction as nodes reply it. */
function replyOf(raw: Hex): Fields & { hash: Hex } {
  const types = { legacy: '0x0', eip2930: '0x1', eip1559: '0x2' } as const
  const { type, to, nonce, value, gas, data, r, s, v, yParity, chainId, ...rest } = parseTransaction(raw) as never as {
    type: keyof typeof types
    to: Hex
    nonce: number
    value?: bigint
    gas: bigint
    data: Hex
    r: Hex
    s: Hex
    v?: bigint
    yParity?: number
    chainId: number
    accessList?: unknown
    gasPrice?: bigint
    maxFeePerGas?: bigint
    maxPriorityFeePerGas?: bigint
  }
  return {
    ...{ hash: keccak256(raw), blockHash: null, type: types[type], from: user.address, to, input: data },
    ...{ nonce: hex(nonce), value: hex(value), gas: hex(gas), chainId: hex(chainId) },
    // Nodes leave leading zeros out.
    ...{ r: hex(hexToBigInt(r)), s: hex(hexToBigInt(s)), v: hex(v ?? yParity) },
    ...(yParity === undefined ? {} : { yParity: hex(yParity) }),
    ...{ gasPrice: hex(rest.gasPrice), accessList: rest.accessList },
    ...{ maxFeePerGas: hex(rest.maxFeePerGas), maxPriorityFeePerGas: hex(rest.maxPriorityFeePerGas) },
  }
}

const nodesOf = (...replies: readonly (Fields | null)[]) =>
  replies.map((reply) => ({
    ask: async (_method: string, _params: unknown, decode: (value: unknown) => unknown) => decode(reply),
  })) as unknown as readonly EvmNode[]

const sign = (terms: object) => user.signTransaction({ ...call, ...terms } as never)
const fee = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n }
const signed = {
  'an old one': await sign({ type: 'legacy', gasPrice: 9n, chainId: CHAIN_ID }),
  'EIP-2930': await sign({ type: 'eip2930', gasPrice: 9n, chainId: CHAIN_ID, accessList }),
  'EIP-1559': await sign({ type: 'eip1559', ...fee, chainId: CHAIN_ID }),
  'EIP-1559 with an access list': await sign({ type: 'eip1559', ...fee, chainId: CHAIN_ID, accessList }),
}
const changes: readonly Fields[] = [
  { input: encodeApprove(spender, 8n) },
  { to: spender },
  { value: '0x1' },
  { nonce: '0x7' },
]

describe.each(Object.entries(signed))('a transaction of the form %s', (_, raw) => {
  const reply = replyOf(raw)

  it('is found at one node', async () => {
    expect(await findTransaction(nodesOf(null, reply), reply.hash)).toEqual(readSigned(CHAIN_ID, raw))
  })

  it('is not what a node says if its bytes have another hash', async () => {
    for (const change of changes) {
      const invented = { ...reply, ...change }
      expect(await findTransaction(nodesOf(invented, reply), reply.hash)).toEqual(readSigned(CHAIN_ID, raw))
      expect(await findTransaction(nodesOf(invented, null), reply.hash)).toBeNull()
    }
  })
})

describe('a transaction of a type that is not serialized', () => {
  const txHash = `0x${'cd'.repeat(32)}`
  const deposit = { ...replyOf(signed['EIP-1559']), hash: txHash, type: '0x7e' }

  it('is found if every node says the same of it', async () => {
    expect(await findTransaction(nodesOf(deposit, deposit), txHash)).toMatchObject({ hash: txHash, targets: [token] })
    expect(await findTransaction(nodesOf(deposit, null), txHash)).toBeNull()
    for (const change of changes)
      await expect(findTransaction(nodesOf(deposit, { ...deposit, ...change }), txHash)).rejects.toMatchObject({
        code: 'NETWORK_UNAVAILABLE',
      })
  })
})

it('is another one than was asked for: it is not found', async () => {
  const reply = replyOf(signed['EIP-1559'])
  expect(await findTransaction(nodesOf(reply, reply), `0x${'cd'.repeat(32)}`)).toBeNull()
})
