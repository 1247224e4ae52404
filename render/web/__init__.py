"""Web pages and their pictures: Chromium through Playwright, pages of templates and of a corpus."""
