"""Sessions that are kept in an object store: what is found again, and under which lead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gradd_runtime.store import Bucket, writing
from gradd_server.bucket_stores import BucketStores
from gradd_server.fronts.leads import FrontAddress, Lead, Leads
from gradd_server.settings import BadConfig, Settings

from tests.objectstore import ObjectStore, reached
from tests.server.under_leads import finds_all_leads

OPTIONS = {"durability": "process", "quota_bytes": 5}


@pytest.fixture
def bucket(object_store: ObjectStore) -> Iterator[Bucket]:
    with reached(object_store) as store:
        yield Bucket(store.url)


@pytest.fixture
def stores(bucket: Bucket) -> BucketStores:
    return BucketStores(bucket)


@pytest.fixture
def leads(bucket: Bucket) -> Leads:
    made = Leads(Bucket(f"{bucket.url}/leads"))
    for after in range(2):
        assert made.take(after, FrontAddress("http://front:4733", ""))
    return made


def under(leads: Leads, number: int, bucket: Bucket) -> BucketStores:
    """What the front that has that lead knows."""
    return BucketStores(bucket, Lead(leads, number))


def begun(bucket: Bucket, record: object) -> None:
    """Who opens the session has made the first object of its record."""
    bucket.write(f"{str(record).removeprefix(bucket.url)[1:]}/log/0", b"123")


def test_what_was_made_is_found(stores: BucketStores, bucket: Bucket) -> None:
    made = {name: stores.make("default", name, OPTIONS) for name in ("a", "A", "x" * 128, "a.b")}
    other = stores.make("team", "a", OPTIONS)
    found = list(BucketStores(bucket).found())
    assert {name: record for tenant, name, _, record in found if tenant == "default"} == made
    assert [record for tenant, _, _, record in found if tenant == "team"] == [other]
    assert all(options == OPTIONS for _, _, options, _ in found)
    assert len({*made.values(), other}) == 5


def test_what_is_deleted_is_gone_with_all_that_it_had(stores: BucketStores, bucket: Bucket) -> None:
    first = stores.make("default", "a", OPTIONS)
    stores.make("default", "b", OPTIONS)
    begun(bucket, first)
    stores.write_shares("default", "a", b"[]")
    with writing(stores.shelf("default", "a", durable=False).place()) as file:
        file.write(b"half a snapshot")
    for _ in range(2):
        stores.remove("default", "a")
        assert {name.partition("/")[0] for name in bucket.sizes(depth=None)} == {"index"}
        assert [name for _, name, _, _ in BucketStores(bucket).found()] == ["b"]
    assert stores.make("default", "a", OPTIONS) != first


def test_what_was_half_made_goes(stores: BucketStores, bucket: Bucket) -> None:
    begun(bucket, stores.prepare("default", "half", OPTIONS))
    with writing(stores.incoming()) as file:
        file.write(b"123")
    assert list(BucketStores(bucket).found()) == []
    assert bucket.sizes(depth=None) == {}


def test_what_cannot_be_read_is_left_alone(
    stores: BucketStores, bucket: Bucket, caplog: pytest.LogCaptureFixture
) -> None:
    record = stores.make("default", "a", OPTIONS)
    begun(bucket, record)
    stores.make("default", "b", OPTIONS)
    (place,) = (f"index/{name}" for name in bucket.sizes("index", None) if f"/{name}/" in str(record))
    bucket.write(place, b"{")
    before = bucket.sizes(depth=None)
    assert [name for _, name, _, _ in BucketStores(bucket).found()] == ["b"]
    assert bucket.sizes(depth=None) == before
    assert f"{bucket.url}/{place} is left alone" in caplog.text


def test_shares_are_found_with_their_sessions(stores: BucketStores, bucket: Bucket) -> None:
    for name in ("a", "b"):
        stores.make("default", name, OPTIONS)
    stores.write_shares("default", "a", b"[]")
    again = BucketStores(bucket)
    assert len(list(again.found())) == 2
    assert again.read_shares("default", "a") == b"[]"
    assert again.read_shares("default", "b") is None


def test_what_tenants_have_is_measured(stores: BucketStores, bucket: Bucket) -> None:
    for tenant in ("default", "team", "team"):
        begun(bucket, stores.make(tenant, "a", OPTIONS))
    free, used = stores.measure()
    assert used == {"default": 3, "team": 3}
    assert free == stores.disk_bytes > 1 << 60


# -- leads -------------------------------------------------------------------------------------------------


def test_what_was_made_under_any_lead_is_found(leads: Leads, stores: BucketStores, bucket: Bucket) -> None:
    assert len(finds_all_leads(stores, lambda number: under(leads, number, bucket), OPTIONS)) == 2


def test_one_who_leads_no_more_touches_nothing_of_who_does(leads: Leads, bucket: Bucket) -> None:
    first, second = under(leads, 1, bucket), under(leads, 2, bucket)
    begun(bucket, second.make("default", "a", OPTIONS))
    begun(bucket, second.prepare("default", "half", OPTIONS))
    with writing(second.incoming()) as file:
        file.write(b"123")
    before = bucket.sizes(depth=None)
    with pytest.raises(OSError, match="another front leads"):
        first.make("default", "a", OPTIONS)
    first.remove("default", "a")
    assert [name for _, name, _, _ in first.found()] == ["a"]
    assert bucket.sizes(depth=None) == before


def test_of_two_folders_that_of_the_later_lead_counts(
    leads: Leads, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = under(leads, 1, bucket)
    with monkeypatch.context() as patch:  # it had not lost the lead yet
        patch.setattr(first, "check", lambda: None)
        begun(bucket, first.make("default", "a", OPTIONS))
    new = under(leads, 2, bucket).make("default", "a", OPTIONS)
    begun(bucket, new)
    assert [record for *_, record in under(leads, 2, bucket).found()] == [new]
    assert len(bucket.sizes("sessions", None)) == 1
    first.remove("default", "a")
    assert [record for *_, record in under(leads, 2, bucket).found()] == [new]


def test_shares_of_who_leads_no_more_do_not_count(leads: Leads, bucket: Bucket) -> None:
    first, second = under(leads, 1, bucket), under(leads, 2, bucket)
    with pytest.MonkeyPatch.context() as patch:  # it had not lost the lead yet
        patch.setattr(first, "check", lambda: None)
        first.make("default", "a", OPTIONS)
    first.write_shares("default", "a", b"old")
    assert len(list(second.found())) == 1
    assert second.read_shares("default", "a") == b"old"
    second.write_shares("default", "a", b"new")
    first.write_shares("default", "a", b"late")
    again = under(leads, 2, bucket)
    assert len(list(again.found())) == 1
    assert again.read_shares("default", "a") == b"new"


def test_a_lead_is_given_once(leads: Leads) -> None:
    assert not leads.take(0, FrontAddress("http://other:4733", ""))
    assert leads.latest() == (2, FrontAddress("http://front:4733", ""))
    assert (leads.is_over(1), leads.is_over(2)) == (True, False)
    leads.serve(2)
    assert (leads.serves(1), leads.serves(2)) == (False, True)


# -- settings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["bucket", "s3://", "s3:///", "/data", "s3:bucket", "a b://c"])
def test_what_is_no_url_is_refused(said: str) -> None:
    with pytest.raises(BadConfig, match="no url of an object store"):
        Settings.load({}, {"GRADD_RECORDS": said, "GRADD_PLACEMENT": "ray"})


def test_it_is_for_clusters() -> None:
    with pytest.raises(BadConfig, match="--records are for --placement ray"):
        Settings.load({}, {"GRADD_RECORDS": "s3://bucket"})
    settings = Settings.load({}, {"GRADD_RECORDS": "s3://bucket/here/", "GRADD_PLACEMENT": "ray"})
    assert settings.records == "s3://bucket/here"
