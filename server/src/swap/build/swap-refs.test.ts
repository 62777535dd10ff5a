import fc from 'fast-check'
import { expect, it } from 'vitest'
import { zeroAddress } from '../../adapters/chains/evm/native-coin.ts'
import { type BuiltTerms, createSwapRefs } from './swap-refs.ts'

const terms: BuiltTerms = {
  ...{ partnerId: 'p1', network: 'eth', account: '0xa', recipient: '0xa', tokenIn: '0x1', tokenOut: '0x2' },
  ...{
    amountIn: 10n,
    minReceived: 9n,
    feePpm: 3_000,
    feeTo: '0xf',
    expiry: { by: 'time', at: 1_800_000_000 },
    owesFee: true,
  },
  callHash: '0xc',
}
const refs = createSwapRefs(Buffer.from('a pepper'))

it('verifies its references in any process with the same pepper, and no others', () => {
  const ref = refs.issue(terms, [])
  expect(ref).toMatch(/^0x[0-9a-f]{64}$/)
  expect(createSwapRefs(Buffer.from('a pepper')).read(ref, terms)).toEqual({ owesFee: true })
  expect(createSwapRefs(Buffer.from('another')).read(ref, terms)).toBeNull()
  expect(refs.issue(terms, [])).not.toBe(ref)
})

it('binds every term', () => {
  const ref = refs.issue(terms, [])
  const change = {
    bigint: (value: bigint) => value + 1n,
    number: (value: number) => value + 1,
    string: (value: string) => `${value}0`,
  }
  for (const [name, value] of Object.entries(terms)) {
    if (typeof value === 'boolean' || typeof value === 'object') continue
    const changed =
      typeof value === 'bigint'
        ? change.bigint(value)
        : typeof value === 'number'
          ? change.number(value)
          : change.string(value)
    expect([name, refs.read(ref, { ...terms, [name]: changed })]).toEqual([name, null])
  }
})

it('binds the expiry that a transaction states', () => {
  const expiries = [
    null,
    { by: 'time', at: 1_800_000_000 },
    { by: 'time', at: 1_800_000_001 },
    { by: 'epoch', at: 1_800_000_000 },
    { by: 'never' },
  ] as const
  for (const expiry of expiries) {
    const ref = refs.issue({ ...terms, expiry }, [])
    for (const other of expiries)
      expect(refs.read(ref, { ...terms, expiry: other })).toEqual(other === expiry ? { owesFee: true } : null)
  }
})

it('binds the call of an aggregator, and distinguishes it from our own route', () => {
  const aggregatorCall = { target: '0x3', spender: '0x4', calldata: '0x12345678' }
  const ref = refs.issue({ ...terms, aggregatorCall }, [])
  expect(refs.read(ref, { ...terms, aggregatorCall })).toEqual({ owesFee: true })
  expect(refs.read(ref, terms)).toBeNull()
  expect(refs.read(refs.issue(terms, []), { ...terms, aggregatorCall })).toBeNull()
  for (const changes of [{ target: '0x5' }, { spender: '0x5' }, { spender: null }, { calldata: '0x1234567800' }])
    expect(refs.read(ref, { ...terms, aggregatorCall: { ...aggregatorCall, ...changes } })).toBeNull()
})

it('does not bind the fee address without a fee', () => {
  const free = { ...terms, feePpm: 0 }
  expect(refs.read(refs.issue(free, []), { ...free, feeTo: zeroAddress })).not.toBeNull()
})

it('recovers whether the fee is owed', () => {
  const { owesFee: _, ...onChain } = terms
  for (const owesFee of [true, false])
    expect(refs.read(refs.issue({ ...onChain, owesFee }, []), onChain)).toEqual({ owesFee })
})

it('remembers the DEXes of the route, authenticated', () => {
  const ref = refs.issue(terms, ['uniswap-v3', 'curve'])
  expect([refs.mayUseDex(ref, 'uniswap-v3'), refs.mayUseDex(ref, 'curve')]).toEqual([true, true])
  const names = Array.from({ length: 100 }, (_, n) => `dex-${n}`)
  // Two of 32 bits are set.
  expect(names.filter((name) => refs.mayUseDex(ref, name)).length).toBeLessThan(25)
  expect(names.some((name) => refs.mayUseDex(refs.issue(terms, []), name))).toBe(false)
  // A changed bit is a changed reference.
  expect(refs.read(`0x00000000${ref.slice(10)}`, terms)).toBeNull()
  expect(refs.read(ref, terms)).toEqual({ owesFee: true })
})

it('rejects everything that it did not issue', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
      ),
      (text) => refs.read(text, terms) === null,
    ),
  )
})
