import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'

/** The scheme of the system until the operator chooses one, which the browser keeps. */
export function ColorSchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={isDark ? 'Use the light scheme' : 'Use the dark scheme'}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
        <circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" strokeWidth="2" />
        <path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor" />
      </svg>
    </ActionIcon>
  )
}
