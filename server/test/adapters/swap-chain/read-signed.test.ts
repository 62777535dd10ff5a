import { encodeFunctionData, type Hex, keccak256, parseAbi, parseTransaction, serializeTransaction } from 'viem'
import { expect, test } from 'vitest'
import { nativeAddress, zeroAddress } from '../../../src/adapters/chains/evm/native-coin.ts'
import { encodeSwap } from '../../../src/adapters/dex/encode-swap.ts'
import { createEvmSwapChain } from '../../../src/adapters/swap-chain/chain.ts'
import { network, signAs, user } from './stage.ts'

// Decodes transactions that viem signed. No node is involved.

const wrapped = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const token = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const chain = createEvmSwapChain({ network, rpcUrls: ['http://127.0.0.1:9/'], wrapped })
const approve = (spender: string, units = 5n) =>
  encodeFunctionData({
    abi: parseAbi(['function approve(address, uint256)']),
    functionName: 'approve',
    args: [spender as Hex, units],
  })
const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, gas: 100_000n, nonce: 0, chainId: 31_337 } as const
const call = { to: token as Hex, data: approve(chain.spender), value: 0n } as const
const signed = (changes: object = {}) => signAs(user, { type: 'eip1559', ...fees, ...call, ...changes })
const actionOf = async (changes: object) => chain.readSigned(await signed(changes)).action

test.each(['eip1559', 'legacy', 'eip2930'])('decodes an approval in a transaction of type %s', async (type) => {
  const price = type === 'eip1559' ? {} : { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: 10n }
  const raw = await signed({ type, ...price, nonce: 7, ...(type === 'eip2930' ? { accessList: [] } : {}) })
  for (const text of [raw, `0x${raw.slice(2).toUpperCase()}`]) {
    expect(chain.readSigned(text)).toMatchObject({
      ...{ signer: user.address.toLowerCase(), nonce: 7, targets: [token] },
      action: { kind: 'approve', token, spender: chain.spender, units: 5n },
    })
  }
})

test('rejects transactions of other chains', async () => {
  expect(() => chain.readSigned('0x')).toThrow(expect.objectContaining({ code: 'RAW_TX_INVALID' }))
  for (const raw of [
    await signed({ chainId: 1 }),
    await signed({
      type: 'legacy',
      gasPrice: 1n,
      chainId: undefined,
      maxFeePerGas: undefined,
      maxPriorityFeePerGas: undefined,
    }),
  ])
    expect(() => chain.readSigned(raw)).toThrow(expect.objectContaining({ code: 'TX_CHAIN_MISMATCH' }))
})

test('D8: rejects an EIP-7702 transaction, whatever it calls', async () => {
  const authorization = await user.signAuthorization?.({ address: token, chainId: 31_337, nonce: 1 })
  for (const changes of [{}, { data: '0x' }, { to: chain.spender, data: '0x12345678' }]) {
    const raw = await signed({ ...changes, type: 'eip7702', authorizationList: [authorization] })
    expect(() => chain.readSigned(raw)).toThrow(expect.objectContaining({ code: 'RAW_TX_INVALID' }))
  }
})

test('rejects input that is not a canonical signed transaction', async () => {
  const raw = await signed()
  const { r, s, yParity, ...unsigned } = parseTransaction(raw) as never as { r: Hex; s: Hex; yParity: number }
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const highS = `0x${(order - BigInt(s)).toString(16)}` as const
  const serialize = (signature: object) => serializeTransaction(unsigned as never, signature as never)
  expect(serialize({ r, s, yParity })).toBe(raw)
  const bad = [
    ...[
      '',
      '0x',
      '0x02',
      '0xzz',
      'hello',
      raw.slice(2),
      `${raw} `,
      `${raw}0`,
      `${raw}00`,
      raw.slice(0, -2),
      `0x01${raw.slice(4)}`,
    ],
    ...['0xc0', '0xf800', `0x02${'f8'.repeat(40)}`, `0x${'ab'.repeat(200_000)}`, `0x7b${raw.slice(4)}`],
    ...[
      serializeTransaction(unsigned as never),
      serialize({ r, s: highS, yParity: 1 - yParity }),
      serialize({ r, s: '0x0', yParity }),
    ],
    ...[serialize({ r: '0x0', s, yParity }), serialize({ r: `0x${order.toString(16)}`, s, yParity })],
  ]
  for (const text of bad)
    expect(() => chain.readSigned(text), text.slice(0, 40)).toThrow(expect.objectContaining({ code: 'RAW_TX_INVALID' }))
})

test('a changed byte is rejected or changes the signer', async () => {
  const raw = await signed({ nonce: 3 })
  const original = chain.readSigned(raw)
  for (let at = 2; at < raw.length; at += 2) {
    const changed = (Number.parseInt(raw.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0')
    try {
      const read = chain.readSigned(raw.slice(0, at) + changed + raw.slice(at + 2))
      expect(read.signer, `byte ${at / 2 - 1}`).not.toBe(original.signer)
    } catch (error) {
      expect(error).toHaveProperty('code', expect.stringMatching(/^(RAW_TX_INVALID|TX_CHAIN_MISMATCH)$/))
    }
  }
})

test('decodes no action for other transactions', async () => {
  expect(await actionOf({ data: approve(token) })).toMatchObject({ spender: token })
  expect(await actionOf({ to: chain.spender })).toBeNull()
  expect(await actionOf({ to: undefined })).toBeNull()
  expect(await actionOf({ data: undefined, value: 5n })).toBeNull()
})

test('reports allowances other than a plain approve as unsupported', async () => {
  const unsupported = { kind: 'unsupported-approval' }
  expect(await actionOf({ value: 1n })).toEqual(unsupported)
  expect(await actionOf({ data: `${call.data}00` })).toEqual(unsupported)
  expect(await actionOf({ data: '0x095ea7b3' })).toEqual(unsupported)
  expect(await actionOf({ data: call.data.replace('000000', 'ff0000') })).toEqual(unsupported)
  expect(await actionOf({ data: `0x39509351${call.data.slice(10)}` })).toEqual(unsupported)
  expect(await actionOf({ data: `0xa9059cbb${call.data.slice(10)}` })).toBeNull()
})

test('decodes a swap of our router, and of no other contract', async () => {
  const pool = {
    kind: 'uniswap-v2',
    id: token,
    address: token,
    dex: 'x',
    tokens: [wrapped, token],
    reserves: [9n, 9n],
    feePpm: 3000,
  } as const
  const route = { swaps: [{ pool, tokenIn: 0, tokenOut: 1, share: 2 ** 24 - 1 }], source: wrapped, target: token }
  const terms = {
    amountIn: 8n,
    minOut: 7n,
    recipient: user.address,
    reference: `0x${'ab'.repeat(32)}`,
    deadline: 99n,
  } as const
  const swap = encodeSwap(
    { ...route, nativeIn: true, nativeOut: false, wrapped },
    { ...terms, fee: { to: user.address, ppm: 30n } },
  )
  const valid = { to: swap.to, data: swap.calldata, value: 8n }
  expect(await actionOf(valid)).toEqual({
    ...{ kind: 'swap', executor: chain.executor, tokenIn: nativeAddress, tokenOut: token },
    ...{ amountIn: 8n, minReceived: 7n, recipient: user.address.toLowerCase(), feePpm: 30 },
    expiry: { by: 'time', at: 99 },
    ...{ feeTo: user.address.toLowerCase(), ref: terms.reference },
    ...{ pools: [token], routeTokens: [nativeAddress, token, wrapped] },
    // Covers everything except the reference.
    callHash: keccak256(swap.calldata.replace('ab'.repeat(32), '00'.repeat(32)) as Hex),
  })
  expect(await actionOf({ ...valid, value: 9n })).toBeNull()
  expect(await actionOf({ ...valid, to: token })).toBeNull()
  expect(await actionOf({ ...valid, data: `${swap.calldata}${'0'.repeat(64)}` })).toBeNull()
})

test('parses addresses and the native placeholders', () => {
  for (const text of [
    nativeAddress,
    '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
    nativeAddress.toUpperCase().replace('0X', '0x'),
    zeroAddress,
  ])
    expect(chain.parse(text)).toBe(nativeAddress)
  // Examples from EIP-55.
  for (const text of ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359']) {
    expect(chain.parse(text)).toBe(text.toLowerCase())
    expect(chain.parse(text.replace('F', 'f').replace('B', 'b'))).toBeNull()
  }
  for (const text of ['', '0x', '0x123', `${token}00`, token.slice(2), ` ${token}`, 'vitalik.eth'])
    expect([chain.parse(text), chain.parseAccount(text)]).toEqual([null, null])
  // Reserved addresses and native placeholders are not accounts.
  const precompile = '0x0000000000000000000000000000000000000004'
  expect([chain.parse(precompile), chain.parseAccount(precompile)]).toEqual([precompile, null])
  expect([nativeAddress, zeroAddress].map((text) => chain.parseAccount(text))).toEqual([null, null])
  expect(chain.parseAccount(user.address)).toBe(user.address.toLowerCase())
})
