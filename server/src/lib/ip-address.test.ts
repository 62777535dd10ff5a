import { expect, test } from 'vitest'
import { callerNetwork, isLoopback, isPublicAddress, isWithin, toBlock } from './ip-address.ts'

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

test.for([
  ...['8.8.8.8', '1.1.1.1', '93.184.216.34', '2001:4860:4860::8888', '2606:4700::1111'].map(
    (ip) => [ip, true] as const,
  ),
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'].map(
    (ip) => [ip, false] as const,
  ),
  ...['192.0.0.8', '192.0.2.7', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'].map(
    (ip) => [ip, false] as const,
  ),
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255'].map((ip) => [ip, false] as const),
  ...['::', '::1', '::ffff:8.8.8.8', '::ffff:10.0.0.1', '::8.8.8.8', '::10.0.0.1'].map((ip) => [ip, false] as const),
  // NAT64, its local prefix, 6to4, Teredo, documentation, unique local, link-local, site-local, multicast, discard.
  ...['64:ff9b::a00:1', '64:ff9b:1::a00:1', '2002:a00:1::', '2001:0:a00:1::', '2001:db8::1'].map(
    (ip) => [ip, false] as const,
  ),
  ...['fc00::1', 'fd12::1', 'fe80::1', 'fec0::1', 'ff02::1', '100::1', 'localhost', ''].map(
    (ip) => [ip, false] as const,
  ),
])('%s is a public address: %s', ([ip, isPublic]) => {
  expect(isPublicAddress(ip)).toBe(isPublic)
})
