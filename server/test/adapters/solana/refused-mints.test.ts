import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRouteFinder } from '../../../src/adapters/router/find-route.ts'
import { signer, writable } from '../../../src/adapters/solana/instructions.ts'
import { systemProgram, token2022Program } from '../../../src/adapters/solana/program-address.ts'
import { encodeUnsigned, type Instruction } from '../../../src/adapters/solana/transaction.ts'
import { type Market, SOL, startMarket, type User } from './solana-market.fixture.ts'

/* Mints that the real Token-2022 program creates in the sandbox's node, each with one extension, and a deep pool against SOL. */

let market: Market
let user: User

beforeAll(async () => {
  market = await startMarket()
  user = await market.createFunded(10_000_000_000n)
})
afterAll(() => market?.stop())

const ACCOUNT_BYTES = 165
const keyOf = (address: string) => Buffer.from(base58.decode(address))
const u64 = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

/** System instruction 3: an account whose address follows from its payer, a text and its owner. */
function createWithSeed(seed: string, bytes: number): Readonly<{ address: string; instruction: Instruction }> {
  const hash = createHash('sha256').update(
    Buffer.concat([keyOf(user.address), Buffer.from(seed), keyOf(token2022Program)]),
  )
  const address = base58.encode(hash.digest())
  const data = Buffer.concat([
    ...[Buffer.from([3, 0, 0, 0]), keyOf(user.address), u64(seed.length), Buffer.from(seed)],
    ...[u64(100_000_000), u64(bytes), keyOf(token2022Program)],
  ])
  const payer = { ...signer(user.address), isWritable: true }
  return { address, instruction: { program: systemProgram, accounts: [payer, writable(address)], data } }
}

const ofToken2022 = (mint: string, data: Buffer): Instruction => ({
  ...{ program: token2022Program, accounts: [writable(mint)], data: new Uint8Array(data) },
})

/** `size`: of the extension's value. `data`: of the instruction that initializes it, by the interface of Token-2022. */
async function createMint(name: string, extension: Readonly<{ size: number; data: (key: Buffer) => Buffer }> | null) {
  const bytes = extension === null ? 82 : ACCOUNT_BYTES + 1 + 4 + extension.size
  // A seed has at most 32 characters.
  const { address, instruction } = createWithSeed(name.slice(0, 32), bytes)
  const key = keyOf(user.address)
  // InitializeMint2 with the user as the authority of minting and freezing.
  const mint = ofToken2022(address, Buffer.concat([Buffer.from([20, 6]), key, Buffer.from([1]), key]))
  const initial = extension === null ? [] : [ofToken2022(address, extension.data(key))]
  const { hash } = market.node.bank.blockAt('processed')
  const unsigned = encodeUnsigned(user.address, hash, [instruction, ...initial, mint])
  const { seen } = await market.send(user, unsigned.toString('base64'))
  expect(seen).toMatchObject({ kind: 'included', ok: true })
  market.addPool({ name, mint: address, program: token2022Program, lamports: 1_000_000_000_000n })
  await market.request(address)
  return address
}

const quote = (token: string) => {
  const at = market.pools.current()
  if (at === null) throw new Error('the pools are not read')
  return createRouteFinder({ budgetMs: 1_000 })(at, {
    ...{ network: 'sol', tokenIn: SOL, tokenOut: token, amountIn: 1_000_000_000n },
  })
}

test('a mint of Token-2022 without such an extension is traded', async () => {
  const mint = await createMint('plain', null)
  expect(quote(mint).amountOut).toBeGreaterThan(0n)
})

test.each([
  [
    'a transfer hook',
    'calls a program',
    { size: 64, data: (key: Buffer) => Buffer.concat([Buffer.from([36, 0]), key, key]) },
  ],
  [
    'a permanent delegate',
    'permanent delegate',
    { size: 32, data: (key: Buffer) => Buffer.concat([Buffer.from([35]), key]) },
  ],
  ['frozen new accounts', 'freezes new accounts', { size: 1, data: () => Buffer.from([28, 0, 2]) }],
  ['no transfers', 'cannot be transferred', { size: 0, data: () => Buffer.from([32]) }],
  [
    'an authority that pauses transfers',
    'pause',
    { size: 33, data: (key: Buffer) => Buffer.concat([Buffer.from([44, 0]), key]) },
  ],
] as const)('a mint with %s is not traded, and the refusal says why', async (name, reason, extension) => {
  const mint = await createMint(name, extension)
  expect(market.pools.current()?.refusedTokens.get(mint)).toContain(reason)
  expect(() => quote(mint)).toThrowError(
    expect.objectContaining({ code: 'NO_ROUTE', message: expect.stringContaining(reason) }),
  )
})
