"""A report in headless Chromium: nothing fails, nothing overflows, at three widths, in light and in dark."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from smriti.receipts.report import Report, write_report
from smriti.receipts.sealed import read_sealed
from smriti.receipts.writer import ReceiptWriter
from tests.receipts import build
from tests.receipts.report import questions

PAGES = ("bench", "trial", "asked", "side")
WIDTHS = (320, 360, 768, 1440)
HOSTILE = "</pre><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202e"
LONG = "a-name-without-any-blank-that-a-narrow-page-has-to-break-somewhere-or-let-it-run-over-its-edge"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind, the trial's made from a hostile transcript."""
    folder = tmp_path_factory.mktemp("reports")
    with pytest.MonkeyPatch.context() as patch:
        keep = ReceiptWriter.keep
        lines = [{"type": "assistant", "turn": 1, "text": HOSTILE}, {"type": "result", LONG: LONG, "text": "x" * 3000}]
        content = "\n".join(map(json.dumps, lines)).encode()
        patch.setattr(ReceiptWriter, "keep", lambda self, kind, _content: keep(self, kind, content))
        bench = read_sealed(build.write(folder / "bench", build.a_manifest(delivery=LONG)))
    other = read_sealed(build.write(folder / "other", build.a_manifest(run_id="20250102t000000-def456")))
    asked = read_sealed(questions.write(folder / "asked"))
    made: dict[str, Report] = {
        "bench": write_report([bench], folder / "bench.report"),
        "asked": write_report([asked], folder / "asked.report"),
        "side": write_report([bench, other], folder / "side.report"),
    }
    found = {name: report.html for name, report in made.items()}
    (found["trial"],) = found["bench"].parent.glob("trials/*-alpha-on-t1.html")
    return found


@pytest.fixture
def shown(chromium: Any, pages: dict[str, Path]) -> Any:
    """Opens a page at a width, in light, dark or print."""

    def show(name: str, width: int, scheme: str = "light", media: str = "screen") -> Any:
        chromium.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
        chromium.get(pages[name].as_uri())
        return chromium

    return show


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_opens_without_an_error_and_without_running_over(
    shown: Any, shots: Path, name: str, width: int, scheme: str
) -> None:
    browser = shown(name, width, scheme)
    browser.execute_script("for (const folded of document.querySelectorAll('details')) folded.open = true")
    assert browser.get_log("browser") == []
    wide = browser.execute_script(
        "const room = document.documentElement.clientWidth;"
        "return [document.documentElement.scrollWidth - room, ...[...document.querySelectorAll('body *')]"
        ".filter(e => !e.closest('.scroll > *, svg *') && e.getBoundingClientRect().right > room + 1)"
        ".map(e => e.outerHTML.slice(0, 80))]"
    )
    assert wide == [0]
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
    path = shots / f"{name}-{scheme}-{width}.png"
    path.write_bytes(base64.b64decode(shot["data"]))
    assert path.stat().st_size > 5_000


@pytest.mark.parametrize("width", WIDTHS)
def test_one_drawing_of_each_plot_is_seen_and_its_text_is_large_enough_to_read(shown: Any, width: int) -> None:
    browser = shown("bench", width)
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('figure')].map(figure => [...figure.querySelectorAll('svg')]"
        ".filter(svg => svg.getBoundingClientRect().width > 0).map(svg => Math.min(...[...svg.querySelectorAll('text')]"
        ".map(text => parseFloat(getComputedStyle(text).fontSize) * svg.getBoundingClientRect().width"
        " / svg.viewBox.baseVal.width))))"
    )
    assert len(sizes) >= 4
    for drawn in sizes:
        assert len(drawn) == 1
        assert drawn[0] >= 9.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_all_text_stands_out_from_what_is_behind_it(shown: Any, name: str, scheme: str) -> None:
    """The contrast of WCAG 2.2 AA: 4.5 to 1."""
    browser = shown(name, 1440, scheme)
    faint = browser.execute_script(
        """
        const parts = color => color.match(/[\\d.]+/g).map(Number);
        const light = color => { const [r, g, b] = parts(color).slice(0, 3).map(v => {
          v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const behind = element => { for (let e = element; e; e = e.parentElement) {
          const color = getComputedStyle(e).backgroundColor;
          if (parts(color).length === 3 || parts(color)[3] > 0) return color; } return 'rgb(255, 255, 255)'; };
        const found = [];
        for (const element of document.querySelectorAll('body *')) {
          const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
          if (!own || ['title', 'desc', 'STYLE'].includes(element.tagName)) continue;
          const style = getComputedStyle(element);
          const color = element.closest('svg') ? style.fill : style.color;
          const [a, b] = [light(color), light(behind(element))];
          const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          if (contrast < 4.5) found.push([element.textContent.slice(0, 40), color, behind(element), contrast]);
        }
        return found;
        """
    )
    assert faint == []


def test_a_hostile_transcript_is_shown_and_does_nothing(shown: Any) -> None:
    browser = shown("trial", 768)
    assert browser.title.endswith("alpha, on, trial 1")
    text = browser.execute_script("return document.querySelector('#transcript').textContent")
    assert "<script>document.title='owned'</script>" in text
    assert "⟨U+202E⟩" in text
    assert browser.execute_script("return document.querySelectorAll('script, img').length") == 0


def test_every_link_of_the_report_leads_to_a_page(shown: Any, pages: dict[str, Path]) -> None:
    for name in ("bench", "trial"):
        browser = shown(name, 768)
        hrefs = browser.execute_script("return [...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
        assert hrefs
        for href in hrefs:
            if not href.startswith("#"):
                assert (pages[name].parent / href).is_file()
            else:
                assert browser.execute_script("return !!document.querySelector(arguments[0])", href)


def test_the_word_rehearsal_stays_on_top_while_the_page_moves(shown: Any) -> None:
    browser = shown("bench", 360)
    browser.execute_script("window.scrollTo(0, 3000)")
    top = browser.execute_script("return document.querySelector('.loud').getBoundingClientRect().top")
    assert top == 0
    assert "REHEARSAL" in browser.execute_script("return document.querySelector('.loud').innerText")


def test_paper_is_white_has_the_wide_plots_and_what_is_folded_on_a_screen(shown: Any) -> None:
    browser = shown("bench", 800, "dark", "print")
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    seen = "return [...document.querySelectorAll(arguments[0])].every(e => e.getBoundingClientRect().height > 0)"
    assert browser.execute_script(seen, ".wide svg")
    assert browser.execute_script(seen, "details table")
    assert not browser.execute_script(seen, ".narrow svg")


def test_dark_and_light_differ_in_paper_and_in_plots(shown: Any) -> None:
    look = (
        "return [getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('svg path[style*=\"--s2\"]')).stroke]"
    )
    light, dark = (shown("bench", 768, scheme).execute_script(look) for scheme in ("light", "dark"))
    assert light[0] != dark[0]
    assert light[1] != dark[1]
