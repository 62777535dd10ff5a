import { deserialize, serialize } from 'node:v8'
import {
  type Address,
  type Base64EncodedWireTransaction,
  type Blockhash,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  generateKeyPairSigner,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Instruction,
  type KeyPairSigner,
  lamports,
  type Signature,
} from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SavedBank } from './bank.ts'
import { signInstructions } from './sign-instructions.fixture.ts'
import { startSolanaNode } from './solana-node.ts'
import { token2022Program } from './token-state.ts'

type Node = Awaited<ReturnType<typeof startSolanaNode>>

const sol = 1_000_000_000n
const computeBudget = 'ComputeBudget111111111111111111111111111111' as Address
let node: Node
let rpc: ReturnType<typeof createSolanaRpc>
let payer: KeyPairSigner

beforeEach(async () => {
  node = await startSolanaNode({ port: 0, log: () => undefined })
  rpc = createSolanaRpc(node.rpcUrl)
  payer = await generateKeyPairSigner()
  await node.deposit(payer.address, 10n * sol)
  node.mine(40)
})

afterEach(() => node.stop())

type Build = Readonly<{ hash?: Blockhash; tables?: Record<Address, Address[]> }>

async function build(instructions: readonly Instruction[], { hash, tables }: Build = {}) {
  const blockhash = hash ?? (await rpc.getLatestBlockhash().send()).value.blockhash
  return signInstructions(payer, blockhash, instructions, tables)
}

const pay = (destination: Address, amount: bigint) => getTransferSolInstruction({ source: payer, destination, amount })
const send = (wire: Base64EncodedWireTransaction): Promise<Signature> =>
  rpc.sendTransaction(wire, { encoding: 'base64' }).send()
const balanceOf = async (address: Address) => (await rpc.getBalance(address, { commitment: 'processed' }).send()).value
const statusOf = async (signature: Signature) => (await rpc.getSignatureStatuses([signature]).send()).value[0]

async function call(method: string, params: unknown[]) {
  const reply = await fetch(node.rpcUrl, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await reply.json()) as { result?: unknown; error?: { code: number; message: string; data?: unknown } }
}

test('a start says that the node is no validator, and which DEXes it executes by their maths', async () => {
  const texts: string[] = []
  const other = await startSolanaNode({ port: 0, log: (text) => void texts.push(text) })
  await other.stop()
  expect(texts).toHaveLength(1)
  for (const part of ['not a validator', 'are simulated', 'no votes', 'binaries of DEXes are not available'])
    expect(texts[0]).toContain(part)
  const titles = ['Raydium CPMM', 'Raydium CLMM', 'Raydium AMM v4', 'Meteora DLMM', 'Meteora DAMM v2', 'PumpSwap']
  for (const title of titles) expect(texts[0]).toContain(title)
})

test('a transfer costs 5,000 lamports a signature and moves through the commitments in order', async () => {
  const { address } = await generateKeyPairSigner()
  const signature = await send(await build([pay(address, sol)]))
  expect(await statusOf(signature)).toBe(null)
  const seen: string[] = []
  for (let n = 0; n < 36; n += 1) {
    node.mine(1)
    seen.push((await statusOf(signature))?.confirmationStatus ?? 'none')
  }
  expect(seen).toEqual([...Array(2).fill('processed'), ...Array(32).fill('confirmed'), ...Array(2).fill('finalized')])
  expect(await balanceOf(address)).toBe(sol)
  expect(await balanceOf(payer.address)).toBe(9n * sol - 5000n)
  const found = await rpc.getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send()
  expect(found?.meta).toMatchObject({
    err: null,
    fee: 5000n,
    preBalances: [10n * sol, 0n, 1n],
    computeUnitsConsumed: 150n,
  })
})

test('a blockhash is valid for 150 blocks, skipped slots not counted', async () => {
  const { value } = await rpc.getLatestBlockhash({ commitment: 'processed' }).send()
  const wire = await build([pay((await generateKeyPairSigner()).address, sol)], { hash: value.blockhash })
  node.skipSlots(100)
  node.mine(150)
  const isValid = rpc.isBlockhashValid(value.blockhash, { commitment: 'processed' })
  expect((await isValid.send()).value).toBe(true)
  expect(await rpc.getBlockHeight({ commitment: 'processed' }).send()).toBe(value.lastValidBlockHeight)
  node.mine(1)
  expect((await isValid.send()).value).toBe(false)
  expect(
    (await call('sendTransaction', [wire, { encoding: 'base64', preflightCommitment: 'processed' }])).error,
  ).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Blockhash not found',
    data: { err: 'BlockhashNotFound' },
  })
})

test('a transaction sent twice is executed once', async () => {
  const { address } = await generateKeyPairSigner()
  const wire = await build([pay(address, sol)])
  await send(wire)
  await send(wire)
  node.mine(1)
  await rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send()
  node.mine(40)
  expect(await balanceOf(address)).toBe(sol)
  expect((await call('sendTransaction', [wire, { encoding: 'base64' }])).error?.message).toBe(
    'Transaction simulation failed: This transaction has already been processed',
  )
})

test('the priority fee is the limit of compute units at the price per unit, rounded up', async () => {
  const limit = new Uint8Array([2, 0xe9, 0x03, 0, 0]) // 1,001 units
  const price = new Uint8Array([3, 0xdc, 0x05, 0, 0, 0, 0, 0, 0]) // 1,500 millionths of a lamport
  const { address } = await generateKeyPairSigner()
  const budget = [limit, price].map((data) => ({ programAddress: computeBudget, data }))
  await send(await build([...budget, pay(address, sol)]))
  node.mine(1)
  expect(await balanceOf(payer.address)).toBe(9n * sol - 5002n)
})

test('a fork drops a transaction until it is sent again', async () => {
  const { address } = await generateKeyPairSigner()
  const wire = await build([pay(address, sol)])
  const signature = await send(wire)
  node.mine(3)
  node.fork(3)
  expect(await statusOf(signature)).toBe(null)
  expect(await balanceOf(address)).toBe(0n)
  node.mine(5)
  expect(await balanceOf(payer.address)).toBe(10n * sol)
  expect(await send(wire)).toBe(signature)
  node.mine(1)
  expect(await balanceOf(address)).toBe(sol)
  expect(() => node.fork(35)).toThrow('are not final')
})

test('the simulation reports what the transaction then does', async () => {
  const { address } = await generateKeyPairSigner()
  for (const amount of [sol, 100n * sol]) {
    const wire = await build([pay(address, amount)])
    const { value } = await rpc.simulateTransaction(wire, { encoding: 'base64', sigVerify: true }).send()
    const signature = await rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send()
    node.mine(40)
    const found = await rpc.getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send()
    expect(found?.meta?.err).toEqual(value.err)
    expect(found?.meta?.logMessages).toEqual(value.logs)
    expect(found?.meta?.computeUnitsConsumed).toBe(value.unitsConsumed)
  }
})

test('a v0 transaction loads addresses from a lookup table, in a slot after the one that extended it', async () => {
  const program = 'AddressLookupTab1e1111111111111111111111111' as Address
  const system = '11111111111111111111111111111111' as Address
  // A block sees the hashes of its ancestors, not its own.
  const slot = (await rpc.getSlot().send()) - 1n
  const slotBytes = new Uint8Array(8)
  new DataView(slotBytes.buffer).setBigUint64(0, slot, true)
  const seeds = [getAddressEncoder().encode(payer.address), slotBytes]
  const [table, bump] = await getProgramDerivedAddress({ programAddress: program, seeds })
  const { address } = await generateKeyPairSigner()
  const accounts = [
    { address: table, role: 1 },
    { address: payer.address, role: 3, signer: payer },
    { address: payer.address, role: 3, signer: payer },
    { address: system, role: 0 },
  ] as const
  const create = new Uint8Array([0, 0, 0, 0, ...slotBytes, bump])
  const extend = new Uint8Array([2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, ...getAddressEncoder().encode(address)])
  await send(await build([create, extend].map((data) => ({ programAddress: program, accounts, data }))))
  node.mine(40)
  const signature = await send(await build([pay(address, sol)], { tables: { [table]: [address] } }))
  node.mine(40)
  expect(await balanceOf(address)).toBe(sol)
  const found = await rpc.getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send()
  expect(found?.meta?.loadedAddresses).toEqual({ writable: [address], readonly: [] })
  expect((await call('getTransaction', [signature])).error?.code).toBe(-32015)
})

test('Token-2022 withholds the transfer fee of the mint', async () => {
  const mint = await generateKeyPairSigner()
  const space = 278
  const rent = await rpc.getMinimumBalanceForRentExemption(BigInt(space)).send()
  const option = [1, ...getAddressEncoder().encode(payer.address)]
  // 100 basis points, at most 5,000 units.
  const fee = new Uint8Array([26, 0, ...option, ...option, 100, 0, 0x88, 0x13, 0, 0, 0, 0, 0, 0])
  const programAddress = token2022Program
  const config = { programAddress }
  const { address: receiver } = await generateKeyPairSigner()
  const ataOf = async (owner: Address) =>
    (await findAssociatedTokenPda({ mint: mint.address, owner, tokenProgram: programAddress }))[0]
  const [from, to] = [await ataOf(payer.address), await ataOf(receiver)]
  const account = { payer, mint: mint.address, tokenProgram: programAddress }
  await send(
    await build([
      getCreateAccountInstruction({ payer, newAccount: mint, lamports: rent, space: BigInt(space), programAddress }),
      { programAddress, accounts: [{ address: mint.address, role: 1 }], data: fee },
      getInitializeMint2Instruction({ mint: mint.address, decimals: 2, mintAuthority: payer.address }, config),
      getCreateAssociatedTokenIdempotentInstruction({ ...account, ata: from, owner: payer.address }),
      getCreateAssociatedTokenIdempotentInstruction({ ...account, ata: to, owner: receiver }),
      getMintToInstruction({ mint: mint.address, token: from, mintAuthority: payer, amount: 1_000_000n }, config),
    ]),
  )
  node.mine(40)
  const transfer = {
    source: from,
    mint: mint.address,
    destination: to,
    authority: payer,
    amount: 100_001n,
    decimals: 2,
  }
  const signature = await send(await build([getTransferCheckedInstruction(transfer, config)]))
  node.mine(40)
  // 1 % of 100,001, rounded up, is 1,001.
  expect((await rpc.getTokenAccountBalance(to).send()).value.amount).toBe('99000')
  const found = await rpc.getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send()
  const amounts = found?.meta?.postTokenBalances?.map((one) => one.uiTokenAmount.amount).sort()
  expect(amounts).toEqual(['899999', '99000'])
})

test('wrapped SOL has its mint with nine decimals', async () => {
  const mint = 'So11111111111111111111111111111111111111112' as Address
  expect((await rpc.getTokenSupply(mint).send()).value.decimals).toBe(9)
})

test('tokens of the bank are minted and listed by owner', async () => {
  const { mint } = await node.createMint({ decimals: 6 })
  node.mine(1)
  await node.depositToken(mint, payer.address, 1_500_000n)
  node.mine(40)
  const list = await rpc.getTokenAccountsByOwner(payer.address, { mint }, { encoding: 'jsonParsed' }).send()
  expect(list.value.map(({ account }) => account.data.parsed.info.tokenAmount.uiAmountString)).toEqual(['1.5'])
  expect((await rpc.getTokenSupply(mint).send()).value.amount).toBe('1500000')
})

test('a websocket reports each block that becomes final as a root', async () => {
  const controller = new AbortController()
  const subscriptions = createSolanaRpcSubscriptions(node.webSocketUrl)
  const roots = await subscriptions.rootNotifications().subscribe({ abortSignal: controller.signal })
  const final = await rpc.getSlot({ commitment: 'finalized' }).send()
  node.mine(3)
  const seen: bigint[] = []
  for await (const root of roots) {
    seen.push(root)
    if (seen.length === 3) break
  }
  controller.abort()
  expect(seen).toEqual([final + 1n, final + 2n, final + 3n])
})

test('a websocket reports slots, an account and a signature', async () => {
  const subscriptions = createSolanaRpcSubscriptions(node.webSocketUrl)
  const { address } = await generateKeyPairSigner()
  const signature = await send(await build([pay(address, sol)]))
  const { signal, abort } = ((controller) => ({ signal: controller.signal, abort: () => controller.abort() }))(
    new AbortController(),
  )
  const slots = await subscriptions.slotNotifications().subscribe({ abortSignal: signal })
  const accounts = await subscriptions
    .accountNotifications(address, { commitment: 'confirmed', encoding: 'base64' })
    .subscribe({ abortSignal: signal })
  const signatures = await subscriptions
    .signatureNotifications(signature, { commitment: 'finalized' })
    .subscribe({ abortSignal: signal })
  const first = async <T>(items: AsyncIterable<T>): Promise<T | undefined> => {
    for await (const item of items) return item
    return undefined
  }
  const received = Promise.all([first(slots), first(accounts), first(signatures)])
  node.mine(40)
  const [slot, account, status] = await received
  abort()
  expect(slot?.slot).toBe(41n)
  expect(account?.value.lamports).toBe(lamports(sol))
  expect(account?.context.slot).toBe(41n)
  expect(status?.value.err).toBe(null)
})

test.for([
  ['getBalance', ['0'], -32602, 'Invalid param: Invalid'],
  ['getBalance', ['abc'], -32602, 'Invalid param: WrongSize'],
  ['getBalance', [], -32602, '`params` should have at least 1 argument(s)'],
  ['getSlot', [{ minContextSlot: 1_000_000 }], -32016, 'Minimum context slot has not been reached'],
  ['getAnything', [], -32601, 'Method not found'],
  ['getBlock', [1_000_000], -32004, 'Block not available for slot 1000000'],
] as const)('%s %j is refused with %i', async ([method, params, code, message]) => {
  expect((await call(method, [...params])).error).toMatchObject({ code, message })
})

test('a node continues from a saved state, and executes no transaction of it again', async () => {
  const { address } = await generateKeyPairSigner()
  const wire = await build([pay(address, sol)])
  const signature = await send(wire)
  node.mine(3)
  const waiting = await send(await build([pay(address, 2n * sol)]))
  // The form in which it is written to a file.
  const saved = deserialize(serialize(node.bank.save())) as SavedBank
  const found = await call('getTransaction', [
    signature,
    { maxSupportedTransactionVersion: 0, commitment: 'confirmed' },
  ])
  const slot = await rpc.getSlot({ commitment: 'processed' }).send()
  await node.stop()

  node = await startSolanaNode({ port: 0, log: () => undefined, saved })
  rpc = createSolanaRpc(node.rpcUrl)
  expect(await rpc.getSlot({ commitment: 'processed' }).send()).toBe(slot)
  expect(await balanceOf(address)).toBe(sol)
  expect(
    await call('getTransaction', [signature, { maxSupportedTransactionVersion: 0, commitment: 'confirmed' }]),
  ).toEqual(found)
  await rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send()
  node.fork(2)
  node.mine(40)
  expect(await balanceOf(address)).toBe(3n * sol)
  expect((await statusOf(waiting))?.confirmationStatus).toBe('finalized')
})
