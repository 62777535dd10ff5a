import ipaddr from 'ipaddr.js'

export const isLoopback = (ip: string): boolean => ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback'

/** Whether the address lies in one of the CIDR blocks. An IPv4-mapped IPv6 address is an IPv4 address. */
export function isWithin(ip: string, blocks: readonly string[]): boolean {
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  return blocks.some((block) => {
    const [range, bits] = ipaddr.parseCIDR(block)
    return range.kind() === address.kind() && address.match(range, bits)
  })
}

/** One IPv6 customer has 2^64 addresses, so its callers are counted by the /64 (RFC 6177). An IPv4 address stands for itself. */
export function callerNetwork(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`
}

/** A CIDR block, or the block of one address; null for anything else. */
export function toBlock(text: string): string | null {
  if (ipaddr.isValidCIDR(text)) return text
  if (!ipaddr.isValid(text)) return null
  return `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`
}

/** All public IPv6 addresses are in here: the other ranges of `unicast` are not assigned. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether the address is one of the public Internet: not private, loopback, link-local, multicast, of a carrier, reserved, nor an
 * IPv6 form that leads to such an IPv4 address (mapped, 6to4, Teredo, NAT64).
 */
export function isPublicAddress(ip: string): boolean {
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.parse(ip)
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6))
}
