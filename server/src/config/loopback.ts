/** Whether a host name or address is this machine. URLs put IPv6 addresses into brackets. */
export const isLoopback = (host: string): boolean =>
  /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|\[::1\]|localhost)$/.test(host)
