import { AppShell, Badge, Burger, Button, Group, Menu, NavLink, ScrollArea, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { useOne } from '../api/reads.ts'
import { useSession, useSessionActions } from '../api/session.ts'
import { pageGroups } from '../pages/page-list.ts'
import { ColorSchemeSwitch } from './color-scheme-switch.tsx'
import classes from './shell.module.css'

const COUNTS_MS = 15_000
/** Pages about the operator who is logged in. */
const OWN_PAGES: ReadonlySet<string> = new Set(['/sessions', '/second-factors'])

/** Header and navigation around a page; a menu on narrow screens. */
export function Shell({ children }: Readonly<{ children: ReactNode }>) {
  const [isOpen, { toggle, close }] = useDisclosure()
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const shown = useRef(pathname)
  // Another page begins at its top, also for keyboards and screen readers.
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    close()
    window.scrollTo(0, 0)
    main.current?.focus({ preventScroll: true })
  }, [pathname, close])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'md', collapsed: { mobile: !isOpen } }}
      padding="md"
      transitionDuration={0}
    >
      <a className={classes['skip']} href="#main">
        Skip to the page
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="md"
              size="sm"
              aria-label="Menu"
              aria-expanded={isOpen}
            />
            <Text fw={700}>Swapyard</Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ColorSchemeSwitch />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={isOpen ? undefined : classes['closed']}>
        <ScrollArea px="xs" py="sm">
          <Navigation />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className={classes['main']}>
        {children}
      </AppShell.Main>
    </AppShell>
  )
}

function Navigation() {
  const { pathname } = useLocation()
  const { data: overview } = useOne('overview', {}, { everyMs: COUNTS_MS })
  return pageGroups.map(({ title, pages }) => (
    <div key={title}>
      <Text size="xs" fw={600} c="dimmed" tt="uppercase" px="sm" pt="sm" pb={4}>
        {title}
      </Text>
      {pages
        .filter(({ isHidden }) => !isHidden)
        .map(({ path, title: label, count }) => {
          const isActive = path === '/' ? pathname === '/' : pathname === path || pathname.startsWith(`${path}/`)
          const waiting = (overview && count?.(overview)) ?? 0
          return (
            <NavLink
              key={path}
              component={Link}
              to={path}
              label={label}
              active={isActive}
              aria-current={isActive ? 'page' : undefined}
              rightSection={waiting > 0 && <Badge size="sm">{waiting}</Badge>}
            />
          )
        })}
    </div>
  ))
}

function Account() {
  const { login, role } = useSession()
  const { logOut } = useSessionActions()
  const navigate = useNavigate()
  const own = pageGroups.flatMap(({ pages }) => pages).filter(({ path }) => OWN_PAGES.has(path))
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button variant="default" maw={170}>
          <Text size="sm" truncate>
            {login}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Role: {role}</Menu.Label>
        {own.map(({ path, title }) => (
          <Menu.Item key={path} onClick={() => navigate(path)}>
            {title}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => void logOut()}>Log out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
