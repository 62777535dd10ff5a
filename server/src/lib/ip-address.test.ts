import { expect, test } from 'vitest'
import { callerNetwork, isLoopback, isWithin, toBlock } from './ip-address.ts'

test('an IPv4 address in IPv6 form counts as IPv4', () => {
  expect(isWithin('::ffff:192.0.2.7', ['192.0.2.0/24'])).toBe(true)
  expect(isLoopback('::ffff:127.0.0.1')).toBe(true)
})

test('families are not compared with each other', () => {
  expect(isWithin('192.0.2.7', ['::/0'])).toBe(false)
  expect(isWithin('2001:db8::1', ['0.0.0.0/0', '2001:db8::/32'])).toBe(true)
})

test('what is no address is in no block and is not loopback', () => {
  expect(isWithin('elsewhere', ['0.0.0.0/0'])).toBe(false)
  expect(isLoopback('localhost')).toBe(false)
})

test.for([
  ['192.0.2.7', '192.0.2.7/32'],
  ['2001:db8::1', '2001:db8::1/128'],
  ['192.0.2.0/24', '192.0.2.0/24'],
  ['192.0.2.0/33', null],
  ['elsewhere', null],
] as const)('the block of %s is %s', ([text, block]) => {
  expect(toBlock(text)).toBe(block)
})

test('M27.10: callers of one IPv6 network are one caller', () => {
  // Addresses of RFC 3849 and RFC 5737.
  expect(callerNetwork('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
  expect(callerNetwork('2001:db8:1:2::')).toBe('2001:db8:1:2::/64')
  expect(callerNetwork('2001:db8:1:3::1')).toBe('2001:db8:1:3::/64')
  expect(callerNetwork('192.0.2.7')).toBe('192.0.2.7')
  expect(callerNetwork('::ffff:192.0.2.7')).toBe('192.0.2.7')
})
