"""The start page, and what ships with it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QPushButton

import mbframe as mb
from gui.base.showcase import FOLDER, Exhibit, exhibit, exhibits
from gui.start.gallery import Gallery
from gui.widgets import theme
from mbframe.files import model as model_files
from mbframe.packed import listed

ALL = exhibits()


class NoPointer(QObject):
    """Keeps the pointer of the display from the cards, on one of which it rests wherever the window happens to be."""

    def eventFilter(self, card: QObject, event: QEvent) -> bool:
        return event.type() in (QEvent.Type.Enter, QEvent.Type.Leave)


@pytest.fixture
def gallery(settings, qtbot) -> Gallery:
    gallery = Gallery(settings)
    qtbot.addWidget(gallery)
    pointer = NoPointer(gallery)
    for card in gallery.cards:
        card.installEventFilter(pointer)
    gallery.resize(1300, 800)
    gallery.show()
    qtbot.waitExposed(gallery)
    return gallery


def test_keys_go_from_card_to_card_and_open_them(gallery, qtbot):
    gallery.activateWindow()
    qtbot.waitUntil(gallery.isActiveWindow)
    first, columns = gallery.cards[0], sum(card.y() == gallery.cards[0].y() for card in gallery.cards)
    first.setFocus()
    for key, number in (("Down", columns), ("Right", columns + 1), ("Up", 1), ("Left", 0)):
        qtbot.keyClick(gallery.focusWidget(), getattr(Qt.Key, f"Key_{key}"))
        assert gallery.focusWidget() is gallery.cards[number], key
    with qtbot.waitSignal(gallery.example_chosen) as chosen:
        qtbot.keyClick(gallery.focusWidget(), Qt.Key.Key_Return)
    assert chosen.args == [ALL[0].name]


def test_keys_lead_from_the_search_to_what_it_found(gallery, qtbot):
    """Return and Down in the field did nothing: only the mouse led on."""
    gallery.search.setFocus()
    qtbot.keyClick(gallery.search, Qt.Key.Key_Return)  # no words, no choice
    qtbot.keyClicks(gallery.search, "bicycle 3.5")
    with qtbot.waitSignal(gallery.example_chosen) as chosen:
        qtbot.keyClick(gallery.search, Qt.Key.Key_Return)
    assert chosen.args == ["whipple_bicycle_slow"]
    gallery.search.setText("bicycle")
    qtbot.keyClick(gallery.search, Qt.Key.Key_Down)
    assert gallery.focusWidget().exhibit.name == "whipple_bicycle"
    gallery.search.setText("no such words")
    with qtbot.assertNotEmitted(gallery.example_chosen):
        qtbot.keyClick(gallery.search, Qt.Key.Key_Return)


def test_every_example_is_described():
    words = json.loads((FOLDER / "gallery.json").read_text(encoding="utf-8"))
    assert set(mb.examples.names()) <= set(words)
    assert list(dict.fromkeys(one.source for one in ALL)) == mb.examples.names()
    for one in ALL:
        assert one.title
        assert one.text.endswith("."), one.name
        assert len(one.text) <= 60, f"{one.name}: the text must fit on a card"


def alike(one: Any, other: Any) -> bool:
    """Whether two documents differ by no more than the rounding of another machine, in which modes are computed."""
    one, other = listed(one), listed(other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and len(one) == len(other):
        try:
            numbers = np.array(one, float)  # of a matrix all together: zeros are rounding beside the rest of it
        except (TypeError, ValueError):
            return all(map(alike, one, other))
        return np.allclose(numbers, np.array(other, float), rtol=0.0, atol=1e-9 * np.abs(numbers).max(initial=0.0))
    return one == pytest.approx(other, rel=1e-9) if isinstance(one, float) else one == other


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_what_ships_belongs_to_the_present_example(one: Exhibit):
    """`scripts/assets gallery` makes what is stored; an example that changes needs it again."""
    system = one.system()
    result = mb.load_result(one.result)
    stored = result.described
    assert alike(model_files.document(stored), model_files.document(system)), f"run scripts/assets gallery {one.name}"
    assert result.t[-1] == pytest.approx(one.t_end)
    assert len(result) == (one.instants or 221)
    bodies = {body.name for body in system.bodies}
    assert {one.trail, one.follow} - {""} <= bodies
    if one.trail_point is not None:
        assert len(one.trail_point) == system.dimension
    for name in bodies:
        assert np.isfinite(result.position(name)).all()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_pictures_are_there_and_suit_the_theme(look, qapp):
    for one in ALL:
        picture = QImage(str(one.picture(look)))
        assert picture.size() == QSize(560, 350), one.name
        corner = picture.pixelColor(3, 3).lightness()
        assert corner > 200 if look == "light" else corner < 60, one.name


def test_what_ships_is_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 3e6


def test_a_click_chooses_an_example(gallery, qtbot):
    card = next(card for card in gallery.cards if card.exhibit.name == "slider_crank")
    with qtbot.waitSignal(gallery.example_chosen) as caught:
        qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    assert caught.args == ["slider_crank"]
    card.setFocus()
    with qtbot.waitSignal(gallery.example_chosen):
        qtbot.keyClick(card, Qt.Key.Key_Space)


def test_search_finds_by_all_words(gallery, qtbot):
    qtbot.keyClicks(gallery.search, "hinged PENDULUM")
    assert [card.exhibit.name for card in gallery.cards if card.isVisible()] == ["five_bar_pendulum"]
    assert not gallery.nothing.isVisible()
    gallery.search.setText("perpetuum mobile")
    assert not any(card.isVisible() for card in gallery.cards)
    assert gallery.nothing.isVisible()
    gallery.search.clear()
    assert all(card.isVisible() for card in gallery.cards)


def test_recent_files_are_offered(gallery, settings, tmp_path, qtbot):
    path = tmp_path / "a model with a long name that does not fit into the column of the page at all.json"
    path.write_text("{}")
    settings.add_recent_file(path)
    settings.add_recent_file(tmp_path / "gone.json")
    gallery.refresh()
    qtbot.waitUntil(lambda: any(one.isVisible() for one in gallery.findChildren(QPushButton, "recent_file")))
    (button,) = [one for one in gallery.findChildren(QPushButton, "recent_file") if one.isVisible()]
    assert button.toolTip() == str(path)
    with qtbot.waitSignal(gallery.file_chosen) as caught:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert caught.args == [path]


def test_new_and_open(gallery, qtbot):
    for name, dimension in (("new_model_in_space", 3), ("new_model_in_the_plane", 2)):
        with qtbot.waitSignal(gallery.new_chosen) as caught:
            gallery.findChild(QPushButton, name).click()
        assert caught.args == [dimension]
    with qtbot.waitSignal(gallery.open_chosen):
        gallery.findChild(QPushButton, "open").click()


@pytest.mark.parametrize("width", [420, 800, 1270, 1900])
def test_cards_stand_in_columns(gallery, qtbot, width):
    gallery.resize(width, 700)
    qtbot.wait(10)
    shown = [card.geometry() for card in gallery.cards]
    assert len({box.width() for box in shown}) == 1
    assert not any(a.intersects(b) for k, a in enumerate(shown) for b in shown[:k])
    lefts = sorted({box.left() for box in shown})
    assert len(lefts) == (1 if width == 420 else len(lefts))
    assert all(box.height() == card.heightForWidth(box.width()) for box, card in zip(shown, gallery.cards, strict=True))


def test_pictures_change_with_the_theme(gallery, qapp):
    card = gallery.cards[0]

    def brightness() -> int:
        return card.grab().toImage().pixelColor(20, 10).lightness()

    bright = brightness()
    theme.apply("dark")
    try:
        assert brightness() < 80 < 180 < bright
    finally:
        theme.apply("light")


def test_an_unknown_example_has_no_exhibit():
    assert exhibit("perpetuum_mobile") is None


def test_a_card_plays_its_motion_while_the_mouse_is_there(gallery, qtbot):
    gallery.draw_motions()
    card = next(card for card in gallery.cards if card.exhibit.name == "simple_pendulum")
    card.entered.emit()
    qtbot.waitUntil(lambda: card.motion is not None)
    first = card.motion.copy()
    qtbot.waitUntil(lambda: card.motion is not None and card.motion != first)
    width, height = card.picture_size()
    assert (card.motion.width(), card.motion.height()) == (2 * width, 2 * height)
    other = gallery.cards[0]
    card.left.emit()
    assert card.motion is None
    other.entered.emit()
    qtbot.waitUntil(lambda: other.motion is not None)
    assert card.motion is None
    gallery.hide()
    assert other.motion is None
    assert gallery.motions._canvas is None


def test_a_card_goes_on_from_its_picture(gallery, qtbot, monkeypatch):
    """The motion was framed for itself and began at its first instant: the mechanism jumped when the mouse came."""
    gallery.draw_motions()
    card = next(card for card in gallery.cards if card.exhibit.name == "four_bar_marques")
    still = card._loaded_picture().toImage()
    shown: list[QImage] = []
    monkeypatch.setattr(card, "show_motion", lambda picture: shown.append(picture) if picture is not None else None)
    card.entered.emit()
    qtbot.waitUntil(lambda: bool(shown))

    def coloured(image: QImage) -> np.ndarray:
        """Where the bars are: pixels that are no grey."""
        small = image.scaled(140, 88).convertToFormat(QImage.Format.Format_RGB32)
        pixels = np.array(small.constBits()).reshape(88, 140, 4)[..., :3].astype(int)
        return np.argwhere(np.ptp(pixels, axis=-1) > 60)

    before, after = coloured(still), coloured(shown[0])
    assert len(before) > 100
    assert np.abs(before.mean(axis=0) - after.mean(axis=0)).max() < 4.0
    assert np.abs(np.ptp(before, axis=0) - np.ptp(after, axis=0)).max() < 10


def test_the_keyboard_goes_from_the_search_to_the_cards(gallery):
    """The area that scrolls was a stop of its own, where Return did nothing and nothing was marked."""
    field = gallery.search
    while (field := field.nextInFocusChain()) is not gallery.search:
        if field.focusPolicy() & Qt.FocusPolicy.TabFocus and field.isVisible():
            break
    assert field is gallery.cards[0]


def test_no_motion_before_it_can_be_drawn(gallery, qtbot):
    gallery.cards[0].entered.emit()
    qtbot.wait(300)
    assert gallery.cards[0].motion is None
